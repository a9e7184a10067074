//! Tests of `catalog component` and `catalog package` for authors: creation from a template, and deletion.

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, git::GitForge};

const VARIABLES: &str = r#"{
  "slug": "the-component", "name": "{{ cookiecutter.slug }}", "key": "{{ cookiecutter.slug.replace('-', '_') }}",
  "test_cases": "defaults", "add_lib": "n", "add_golden": "y", "add_matrix": "n", "github_owner": "nobody",
  "automerge_patch_regexp_blocklist": "", "copyright_holder": "nobody", "copyright_year": "1950"
}"#;

/// A forge with a template, and an environment with Git.
fn lab() -> (GitForge, TestEnvironment, String) {
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
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let world = crate::world()
        .env("PATH", path)
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@example.org")
        .env("COMMODORE_COMPONENT_NEW_TEMPLATE_URL", &template)
        .env("COMMODORE_PACKAGE_NEW_TEMPLATE_URL", &template);
    (forge, world, template)
}

fn git(world: &TestEnvironment, forge: &GitForge, folder: &str, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.args(arguments).current_dir(world.current_dir().join(folder)).envs(forge.variables());
    String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
}

// Row: CAT-99
// Row: D-472
#[test]
fn a_component_is_created_compiled_and_deleted() {
    let (forge, world, _) = lab();
    assert_data_eq!(
        world.screens([
            "catalog component new my-thing --output-dir . --owner ann --lib -t one -t one -t two --no-golden-tests --add-automerge-patch-block-depname x --add-automerge-patch-block-pattern ^a --copyright Ann",
            "catalog component compile my-thing -o out",
            "catalog component new my-thing",
            "catalog component delete my-thing",
            "catalog component delete my-thing --force",
            "catalog component delete my-thing --force",
        ]),
        str![[r#"
$ capstan catalog component new my-thing --output-dir . --owner ann --lib -t one -t one -t two --no-golden-tests --add-automerge-patch-block-depname x --add-automerge-patch-block-pattern ^a --copyright Ann
exit 0
--- stdout
Adding component my-thing...
 > Changes:
     Added file .cruft.json
     Added file class/defaults.yml
     Added file class/my-thing.yml
     Added file component/main.jsonnet
     Added file notes
Component my-thing successfully added 🎉
--- stderr
warning: hook `hooks/post_gen_project.py` of the template is a program and did not run: check the files that it would change

$ capstan catalog component compile my-thing -o out
exit 0
--- stdout
Compile component my-thing...
Installing component library aliases
No jsonnetfile.json found, skipping Jsonnet Bundler install.
Compiling catalog...
 > Component compiled to [CWD]/out/compiled/my-thing
Postprocessing...

$ capstan catalog component new my-thing
exit 0
--- stdout
Adding component my-thing...
 > Changes:
     Added file .cruft.json
     Added file class/defaults.yml
     Added file class/my-thing.yml
     Added file component/main.jsonnet
     Added file notes
Component my-thing successfully added 🎉
--- stderr
warning: hook `hooks/post_gen_project.py` of the template is a program and did not run: check the files that it would change

$ capstan catalog component delete my-thing
exit 1
--- stderr
warning: component my-thing has work that is not on its remote
error: cannot ask whether to delete component my-thing
  cause: there is no terminal
hint: run the command in a terminal, or with `--force`

$ capstan catalog component delete my-thing --force
exit 0
--- stdout
Component my-thing successfully deleted 🎉

$ capstan catalog component delete my-thing --force
exit 1
--- stderr
error: Cannot find component with slug 'my-thing'.
hint: components are in `[CWD]/dependencies`

"#]]
    );
    assert_data_eq!(
        world.read("my-thing/notes"),
        str![[r#"
ann defaults one two yny ^a;^x$

"#]]
    );
    assert!(world.read("my-thing/class/defaults.yml").contains("=_metadata: {}"));
    assert_data_eq!(
        world.read("out/compiled/my-thing/my-thing.yaml"),
        str![[r#"
holder: Ann

"#]]
    );
    let log = git(&world, &forge, "my-thing", &["log", "--format=%an %ae %s", "master"]);
    assert_eq!(log, "Ann ann@example.org Initial commit");
    assert_eq!(git(&world, &forge, "my-thing", &["status", "--short"]), "");
    let remote = git(&world, &forge, "my-thing", &["remote", "get-url", "origin"]);
    assert_eq!(remote, "git@github.com:ann/component-my-thing.git");
    let cruft: serde_json::Value = serde_json::from_str(&world.read("my-thing/.cruft.json")).unwrap();
    let commit = forge.git("template", &["rev-parse", "HEAD"]);
    assert_eq!(cruft["commit"], commit);
    assert_eq!(cruft["checkout"], "main");
    assert_eq!(cruft["context"]["cookiecutter"]["key"], "my_thing");
    let left: Vec<_> = world.files().into_iter().filter(|file| file.contains("[CWD]/dependencies")).collect();
    assert_eq!(left, ["[CWD]/dependencies/.repos/github.com/projectsyn/.component-my-thing.git.lock"]);
}

#[test]
fn a_new_component_is_a_worktree_of_a_clone() {
    let (forge, world, _) = lab();
    world.run_expecting_success("catalog component new one -d work");
    world.run_expecting_success("catalog package new one -d work");
    let folder = "work/dependencies/one";
    assert_eq!(git(&world, &forge, folder, &["status", "--short", "--branch"]), "## master");
    assert_eq!(git(&world, &forge, folder, &["rev-list", "--count", "HEAD"]), "1");
    let clone = git(&world, &forge, folder, &["rev-parse", "--git-common-dir"]);
    assert!(clone.ends_with("work/dependencies/.repos/github.com/projectsyn/component-one.git"), "{clone}");
    assert_eq!(world.read("work/dependencies/pkg.one/notes"), "projectsyn defaults nyn \n");
}

#[test]
fn impossible_components_are_refused_and_leave_nothing() {
    let (forge, world, template) = lab();
    world.write("there/one/file", "");
    assert_data_eq!(
        world.screens([
            "catalog component new component-one",
            "catalog component new X",
            "catalog package new t-one",
            "catalog component new one --output-dir there",
            "catalog component new one --output-dir nowhere",
            "catalog component new one --template-version v9",
            "catalog component delete nope",
        ]),
        str![[r#"
$ capstan catalog component new component-one
exit 1
--- stderr
error: The component slug may not start with 'component-'

$ capstan catalog component new X
exit 1
--- stderr
error: The component slug must match '^[a-z][a-z0-9-]+[a-z0-9]$'

$ capstan catalog package new t-one
exit 1
--- stderr
error: Package slug can't use reserved tenant prefix 't-'

$ capstan catalog component new one --output-dir there
exit 1
--- stdout
Adding component one...
--- stderr
error: Unable to add component one: [CWD]/there/one already exists.
hint: use another name, or another folder with `--output-dir`

$ capstan catalog component new one --output-dir nowhere
exit 1
--- stderr
error: Output directory [CWD]/nowhere doesn't exist

$ capstan catalog component new one --template-version v9
exit 1
--- stdout
Adding component one...
--- stderr
error: while fetching template [..]/repositories/template: Failed to checkout revision 'v9'

$ capstan catalog component delete nope
exit 1
--- stderr
error: Cannot find component with slug 'nope'.
hint: components are in `[CWD]/dependencies`

"#]]
    );
    let missing = format!("{template}-missing");
    let run = world.run(["catalog", "component", "new", "one", "--template-url", &missing]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "Adding component one...\n"), "{run}");
    forge.commit("template", &[("{{ cookiecutter.slug }}/bad", "{{ cookiecutter.nope }}\n")]);
    let run = world.run_line("catalog component new one");
    assert!(run.stderr.contains("cannot render `bad`: `cookiecutter.nope` is undefined"), "{run}");
    let left: Vec<_> = world.files().into_iter().filter(|file| !file.contains("there/one")).collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_package_is_compiled_for_an_invented_cluster() {
    let (forge, world, _) = lab();
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

// Row: D-476
#[test]
fn changes_of_the_template_are_merged_into_a_component() {
    let (forge, world, _) = lab();
    let root = "{{ cookiecutter.slug }}";
    let commit = |message: &str| {
        git(&world, &forge, "my-thing", &["add", "--all"]);
        git(&world, &forge, "my-thing", &["commit", "-q", "-m", message]);
    };
    forge.git("template", &["rm", "-q", "hooks/post_gen_project.py"]);
    forge.commit("template", &[(&format!("{root}/old"), "old\n"), (&format!("{root}/kept"), "old\n")]);
    world.run_expecting_success("catalog component new my-thing --output-dir .");
    world.write("my-thing/own", "mine\n");
    world.write(
        "my-thing/class/my-thing.yml",
        format!("{}# mine\n", world.read("my-thing/class/my-thing.yml")),
    );
    commit("own");
    forge.git("template", &["rm", "-q", &format!("{root}/old")]);
    let class = format!("{root}/class/{{{{ cookiecutter.slug }}}}.yml");
    let text = "# theirs\nparameters:\n  kapitan:\n    compile:\n      - input_paths: ['${_base_directory}/component/main.jsonnet']\n        input_type: jsonnet\n        output_path: .\n";
    forge.commit(
        "template",
        &[(&class, text), (&format!("{root}/new"), "new {{ cookiecutter.test_cases }}\n")],
    );
    assert_data_eq!(
        world
            .screens(["catalog component update my-thing --no-commit", "catalog component update my-thing",]),
        str![[r#"
$ capstan catalog component update my-thing --no-commit
exit 0
--- stdout
 > Changes:
     Deleted file old
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,6 +1,6 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
     --- class/my-thing.yml
     +++ class/my-thing.yml
     @@ -1,3 +1,4 @@
     +# theirs
      parameters:
        kapitan:
          compile:
 > User requested to skip committing the rendered changes.
Component my-thing successfully updated 🎉

$ capstan catalog component update my-thing
exit 1
--- stderr
error: cannot update the component: `[CWD]/my-thing` has uncommitted changes
hint: commit or discard them first

"#]]
    );
    git(&world, &forge, "my-thing", &["reset", "-q", "--hard"]);
    git(&world, &forge, "my-thing", &["clean", "-q", "-d", "--force"]);
    assert_data_eq!(
        world
            .screens(["catalog component update my-thing -t two --lib", "catalog component update my-thing"]),
        str![[r#"
$ capstan catalog component update my-thing -t two --lib
exit 0
--- stdout
 > Changes:
     Deleted file old
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,14 +1,14 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
            "slug": "my-thing",
            "name": "my-thing",
            "key": "my_thing",
     -      "test_cases": "defaults",
     -      "add_lib": "n",
     +      "test_cases": "defaults two",
     +      "add_lib": "y",
            "add_golden": "y",
            "add_matrix": "y",
            "github_owner": "projectsyn",
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
     --- class/my-thing.yml
     +++ class/my-thing.yml
     @@ -1,3 +1,4 @@
     +# theirs
      parameters:
        kapitan:
          compile:
     --- notes
     +++ notes
     @@ -1,2 +1,2 @@
     -projectsyn defaults nyy 
     +projectsyn defaults two yyy
Component my-thing successfully updated 🎉

$ capstan catalog component update my-thing
exit 0
--- stdout
 > No changes.
Component my-thing already up-to-date 🎉

"#]]
    );
    assert_data_eq!(
        world.read("my-thing/class/my-thing.yml"),
        str![[r#"
# theirs
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/component/main.jsonnet']
        input_type: jsonnet
        output_path: .
# mine

"#]]
    );
    let log = git(&world, &forge, "my-thing", &["log", "-1", "--format=%an|%B"]);
    let short = &forge.git("template", &["rev-parse", "HEAD"])[..7];
    assert_eq!(log, format!("Ann|Update from template\n\nTemplate version: main ({short})"));
    assert_eq!(
        git(&world, &forge, "my-thing", &["ls-files"]),
        ".cruft.json\nclass/defaults.yml\nclass/my-thing.yml\ncomponent/main.jsonnet\nkept\nnew\nnotes\nown"
    );

    world.write("elsewhere/file", "");
    world.write("my-thing/new", "mine\n");
    commit("conflict");
    forge.commit("template", &[(&format!("{root}/new"), "theirs\n"), (&format!("{root}/more"), "more\n")]);
    assert_data_eq!(
        world.screens([
            "catalog component update my-thing",
            "catalog component update my-thing",
            "catalog component update elsewhere",
            "catalog package update my-thing --remove-test-case defaults --remove-test-case two",
        ]),
        str![[r#"
$ capstan catalog component update my-thing
exit 1
--- stderr
error: Can't commit template changes: merge error in 'new'. Please resolve conflicts and commit manually.
hint: or discard the update with `git reset --hard` and `git clean -d --force`

$ capstan catalog component update my-thing
exit 1
--- stderr
error: cannot update the component: `[CWD]/my-thing` has uncommitted changes
hint: commit or discard them first

$ capstan catalog component update elsewhere
exit 1
--- stderr
error: Provided component path doesn't have `.cruft.json`, can't update.
hint: only a component that was created from a template can be updated

$ capstan catalog package update my-thing --remove-test-case defaults --remove-test-case two
exit 1
--- stderr
error: Package template doesn't support removing all test cases.
hint: keep or add a test case

"#]]
    );
    assert_data_eq!(
        world.read("my-thing/new"),
        str![[r#"
<<<<<<< current
mine
=======
theirs
>>>>>>> template

"#]]
    );
}
