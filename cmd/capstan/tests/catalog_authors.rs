//! Tests of `catalog component` and `catalog package` for authors: creation from a template, and deletion.

use snapbox::{assert_data_eq, str};

use crate::testing::{git, template_lab};

// Row: CAT-99
// Row: D-472
#[test]
fn a_component_is_created_compiled_and_deleted() {
    let (forge, world, _) = template_lab();
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
warning: hook `hooks/post_gen_project.py` of the template did not run: check the files that it would change, or allow it with `--allow-external`, if you trust the template

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
warning: hook `hooks/post_gen_project.py` of the template did not run: check the files that it would change, or allow it with `--allow-external`, if you trust the template

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
    let (forge, world, _) = template_lab();
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
    let (forge, world, template) = template_lab();
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
