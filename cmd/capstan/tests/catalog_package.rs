//! Tests of `catalog package compile`.

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, git::GitForge};

use crate::testing::template_lab;

/// Creates a package with a component in Git.
fn package_lab() -> (GitForge, TestEnvironment) {
    let (forge, world, _) = template_lab();
    let component = forge.repository("one").display().to_string();
    forge.commit(
        "one",
        &[
            ("class/defaults.yml", "parameters: {one: {text: none}}"),
            ("class/one.yml", "parameters: {kapitan: {compile: [{input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: .}]}}"),
            ("component/main.jsonnet", "local p = (import 'lib/kapitan.libjsonnet').inventory().parameters; local argocd = import 'lib/argocd.libjsonnet';
{ one: { text: p.one.text, cloud: p.facts.cloud, secret: p.one.secret }, app: argocd.App('one', 'syn') }"),
        ],
    );
    world.write("package-mine/main.yml", format!("applications: [one]\nparameters:\n  components: {{one: {{url: '{component}', version: main}}}}\n  one: {{text: '${{facts:size}}', secret: '?{{vaultkv:a/b/c}}'}}\n"));
    world.write("package-mine/tests/defaults.yml", "classes: [..main]\n");
    world.write("facts.yml", "parameters: {facts: {size: large}}\n");
    (forge, world)
}

#[test]
fn a_package_is_compiled_for_an_invented_cluster() {
    let (_forge, world) = package_lab();
    assert_data_eq!(
        world.screens([
            "catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work",
            "catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work --local -F",
            "catalog package compile package-mine tests/defaults.yml",
            "catalog package compile package-mine tests/nope.yml",
            "catalog package compile package-mine tests/defaults.yml --local",
        ]),
        str![[r#"
$ capstan catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work
exit 0
--- stdout
Cleaning working tree
Updating Kapitan target for cluster...
Discovering components...
Registering component aliases...
Fetching components...
Updating Kapitan target for cluster...
Updating Kapitan target for one...
Installing component library aliases
Updating Kapitan secret references...
Compiling catalog...
Postprocessing...

$ capstan catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work --local -F
exit 0
--- stdout
Updating Kapitan target for cluster...
Discovering included components...
Registering components and aliases...
Updating Kapitan target for cluster...
Updating Kapitan target for one...
Installing component library aliases
Updating Kapitan secret references...
Compiling catalog...
Postprocessing...

$ capstan catalog package compile package-mine tests/defaults.yml
exit 1
--- stdout
Cleaning working tree
Updating Kapitan target for cluster...
Discovering components...
--- stderr
error: While rendering inventory: Error while rendering inventory: Error rendering node cluster
  cause: cannot render target `cluster`
  cause: inventory/classes/mine/main.yml:4: lookup error for reference '${facts:size}' in parameter 'one.text': key 'size' not found
hint: define each missing parameter in a class, or give its reference a default: `${NAME::DEFAULT}`

$ capstan catalog package compile package-mine tests/nope.yml
exit 1
--- stdout
Cleaning working tree
--- stderr
error: Test class 'tests.nope' doesn't exist.
hint: name a file in the package, such as tests/defaults.yml

$ capstan catalog package compile package-mine tests/defaults.yml --local
exit 1
--- stderr
error: `--local` needs the working folder of an earlier run
hint: name it with `--tmp-dir`

"#]]
    );
    assert_data_eq!(
        world.read("package-mine/compiled/one/one.yaml"),
        str![[r#"
cloud: x-fake-cloud
secret: ?{vaultkv:a/b/c:1102b92f}
text: large

"#]]
    );
}

#[cfg(unix)]
#[test]
fn runs_in_one_folder_of_a_package_wait_for_each_other() {
    let (_forge, world) = package_lab();
    std::os::unix::fs::symlink(".", world.current_dir().join("here")).unwrap();
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = ["work", "./work", "here/work", "package-mine/../work"]
            .map(|folder| {
                let line = format!(
                    "catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir {folder}"
                );
                let world = &world;
                scope.spawn(move || world.run_line(&line))
            })
            .into();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for output in outputs {
        assert_eq!(output.status, 0, "{output}");
    }
    assert!(world.read("package-mine/compiled/one/one.yaml").contains("text: large"));
}
