//! Tests of `component test`: the recorded objects of Components.

use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::world;

const COMPONENT: &str = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web}
spec: {sourceRef: {fluxBucket: {name: s}}}
";

const SOURCE: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ name }}}
data: {port: '{{ .port }}', id: '{{ randAlphaNum 8 }}', day: '{{ now | date \"2006-01-02\" }}'}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ name }}}
stringData: {password: correct horse}
";

/// A folder with two cases: `a` has its own source and values, `b` uses that of the command.
fn cases() -> TestEnvironment {
    let world = world();
    world.write("shared/map.yaml", SOURCE);
    world.write("tests/a/component.yaml", COMPONENT);
    world.write("tests/a/source/map.yaml", SOURCE);
    world.write("tests/a/values.yaml", "port: 1\n");
    world.write("tests/deep/b/component.yaml", COMPONENT);
    world
}

#[test]
fn recorded_objects_pass_until_the_source_changes() {
    let world = cases();
    world.run_expecting_success("component test tests --source shared --update");
    assert_data_eq!(
        world.read("tests/a/expected.yaml"),
        str![[r#"
apiVersion: v1
data:
  day: "1970-01-01"
  id: jbY6LAfr
  port: "1"
kind: ConfigMap
metadata:
  name: web
---
apiVersion: v1
kind: Secret
metadata:
  name: web
stringData:
  password: (13 bytes)

"#]]
    );
    world.run_expecting_success("component test tests --source shared");
    world.write("shared/map.yaml", SOURCE.replace("port:", "address:"));
    assert_data_eq!(
        world.screens([
            "component test tests --source shared",
            "component test tests/a",
            "component test tests --source shared --update",
            "component test tests --source shared --update",
        ]),
        str![[r#"
$ capstan component test tests --source shared
exit 1
--- stdout
tests/deep/b
@@ -1,8 +1,8 @@
 apiVersion: v1
 data:
+  address: ""
   day: "1970-01-01"
   id: jbY6LAfr
-  port: ""
 kind: ConfigMap
 metadata:
   name: web
--- stderr
error: 1 of 2 cases failed
  cause: tests/deep/b: the objects differ from the recorded ones
hint: if the objects are as intended, record them with `--update`

$ capstan component test tests/a
exit 0
--- stderr
done in [..]: 1 case passed

$ capstan component test tests --source shared --update
exit 0
--- stderr
done in [..]: recorded 1 of 2 cases

$ capstan component test tests --source shared --update
exit 0
--- stderr
done in [..]: 2 cases unchanged

"#]]
    );
}

#[test]
fn cases_that_are_not_recorded_or_cannot_be_rendered_fail() {
    let world = cases();
    world.run_expecting_success("component test tests/a --update");
    let recorded = world.read("tests/a/expected.yaml");
    world.write("tests/a/source/map.yaml", "a: {{ fail \"no\" }}\n");
    assert_data_eq!(
        world.screens([
            "component test tests --source shared",
            "component test tests --source shared --update",
        ]),
        str![[r#"
$ capstan component test tests --source shared
exit 1
--- stderr
error: 2 of 2 cases failed
  cause: tests/a: cannot render Component `default/web`: cannot render template: map.yaml:1:6: executing "map.yaml" at <fail "no">: error calling fail: no
  cause: tests/deep/b: no objects are recorded
hint: if the objects are as intended, record them with `--update`

$ capstan component test tests --source shared --update
exit 1
--- stderr
error: cannot record the objects of all cases, and changed nothing
  cause: tests/a: cannot render Component `default/web`: cannot render template: map.yaml:1:6: executing "map.yaml" at <fail "no">: error calling fail: no

"#]]
    );
    assert_eq!(world.read("tests/a/expected.yaml"), recorded);
    assert!(!world.files().iter().any(|file| file.ends_with("b/expected.yaml")));
}

#[test]
fn folders_that_test_nothing_are_refused() {
    let world = cases();
    world.write("tests/c/component.yml", COMPONENT);
    world.write("tests/deep/expected.yaml", "");
    world.write("empty/component.yaml/file", "");
    assert_data_eq!(
        world.screens([
            "component test tests --source shared",
            "component test tests --source shared --update",
            "component test empty",
            "component test missing",
        ]),
        str![[r#"
$ capstan component test tests --source shared
exit 1
--- stderr
error: `tests/c` has no file `component.yaml`
  cause: `tests/deep` has no file `component.yaml`
hint: a case is a folder with a file `component.yaml`

$ capstan component test tests --source shared --update
exit 1
--- stderr
error: `tests/c` has no file `component.yaml`
  cause: `tests/deep` has no file `component.yaml`
hint: a case is a folder with a file `component.yaml`

$ capstan component test empty
exit 1
--- stderr
error: `empty/component.yaml` has no file `component.yaml`
hint: a case is a folder with a file `component.yaml`

$ capstan component test missing
exit 1
--- stderr
error: cannot read `[CWD]/missing`
  cause: No such file or directory (os error 2)

"#]]
    );
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_refused() {
    let world = cases();
    let folder = world.current_dir().join("tests");
    std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
    assert_data_eq!(
        world.run_line("component test tests --source shared").to_string(),
        str![[r#"
exit 1
--- stderr
error: `tests/link` is a link to a folder
hint: replace the link by the folder; links are not followed

"#]]
    );
}
