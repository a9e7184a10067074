//! Set-ups for the tests of catalogs: environments with Git repositories and the Lieutenant API, and templates of components.

use support::{binary::TestEnvironment, git::GitForge, host::FakeHost};

const VARIABLES: &str = r#"{
  "slug": "the-component", "name": "{{ cookiecutter.slug }}", "key": "{{ cookiecutter.slug.replace('-', '_') }}",
  "test_cases": "defaults", "add_lib": "n", "add_golden": "y", "add_matrix": "n", "github_owner": "nobody",
  "automerge_patch_regexp_blocklist": "", "copyright_holder": "nobody", "copyright_year": "1950"
}"#;

/// Creates a forge with a template, and an environment with Git.
pub(crate) fn template_lab() -> (GitForge, TestEnvironment, String) {
    let forge = GitForge::new();
    let root = "{{ cookiecutter.slug }}";
    forge.commit(
        "template",
        &[
            ("cookiecutter.json", VARIABLES),
            (&format!("{root}/class/defaults.yml"), "parameters:\n  {{ cookiecutter.key }}:\n    =_metadata: {}\n    namespace: syn-{{ cookiecutter.slug }}\n"),
            (&format!("{root}/class/{{{{ cookiecutter.slug }}}}.yml"), "parameters:\n  kapitan:\n    compile:\n      - input_paths: ['${_base_directory}/component/main.jsonnet']\n        input_type: jsonnet\n        output_path: .\n"),
            (&format!("{root}/component/main.jsonnet"), "{ '{{ cookiecutter.slug }}': { holder: '{{ cookiecutter.copyright_holder }}' } }\n"),
            (&format!("{root}/notes"), "{{ cookiecutter.github_owner }} {{ cookiecutter.test_cases }} {{ cookiecutter.add_lib }}{{ cookiecutter.add_golden }}{{ cookiecutter.add_matrix }} {{ cookiecutter.automerge_patch_regexp_blocklist }}\n"),
            ("hooks/post_gen_project.py", "raise SystemExit(1)\n"),
        ],
    );
    let template = forge.repository("template").display().to_string();
    let world = with_git(crate::world(), &forge)
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@example.org")
        .env("COMMODORE_COMPONENT_NEW_TEMPLATE_URL", &template)
        .env("COMMODORE_PACKAGE_NEW_TEMPLATE_URL", &template);
    (forge, world, template)
}

/// Creates the same without a hook in the template.
pub(crate) fn template_lab_without_hook() -> (GitForge, TestEnvironment) {
    let (forge, world, _) = template_lab();
    forge.git("template", &["rm", "-q", "hooks/post_gen_project.py"]);
    (forge, world)
}

/// Lets runs find the program `git`.
pub(crate) fn with_git(world: TestEnvironment, forge: &GitForge) -> TestEnvironment {
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    world.env("PATH", path)
}

/// Lets runs find Git, and connect to a fake host with the Lieutenant API.
pub(crate) fn with_lieutenant(
    world: TestEnvironment,
    forge: &GitForge,
    host: &FakeHost,
    api: &str,
) -> TestEnvironment {
    let ca = world.write("ca.pem", host.ca_pem());
    with_git(world, forge)
        .env("HTTPS_PROXY", host.proxy_url())
        .env("SSL_CERT_FILE", ca)
        .env("COMMODORE_API_URL", format!("https://{api}"))
}

/// Runs Git in a folder of an environment, and returns its output.
pub(crate) fn git(world: &TestEnvironment, forge: &GitForge, folder: &str, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.args(arguments).current_dir(world.current_dir().join(folder)).envs(forge.variables());
    String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
}
