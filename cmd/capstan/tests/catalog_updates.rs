//! Tests of `catalog component update` and `catalog package update`.

use snapbox::{assert_data_eq, str};

use crate::testing::{git, template_lab_without_hook};

// Row: D-476
#[test]
fn changes_of_the_template_are_merged_into_a_component() {
    let (forge, world) = template_lab_without_hook();
    let root = "{{ cookiecutter.slug }}";
    let commit = |message: &str| {
        git(&world, &forge, "my-thing", &["add", "--all"]);
        git(&world, &forge, "my-thing", &["commit", "-q", "-m", message]);
    };
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

#[test]
fn an_update_adds_and_removes_patterns_of_dependencies() {
    let (_forge, world) = template_lab_without_hook();
    world.run_expecting_success(
        "catalog component new my-thing --output-dir . --add-automerge-patch-block-pattern ^a --add-automerge-patch-block-depname b",
    );
    assert!(world.read("my-thing/notes").ends_with(" ^a;^b$\n"));
    world.run_expecting_success(
        "catalog component update my-thing --no-commit --add-automerge-patch-block-depname c --remove-automerge-patch-block-pattern ^a",
    );
    assert!(world.read("my-thing/notes").ends_with(" ^b$;^c$\n"));
}
