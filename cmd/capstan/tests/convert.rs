use snapbox::{assert_data_eq, str};

use crate::world;

const CLUSTER: &str = "apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: demo
spec:
  infrastructureRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: DockerCluster
    name: demo
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
";

// Row: D-64, D-65
#[test]
fn cluster_api_objects_are_converted_and_others_are_copied() {
    let world = world();
    world.write("cluster.yaml", CLUSTER);
    let outcome = world.run(["convert", "cluster.yaml"]);
    assert_data_eq!(
        outcome.to_string(),
        str![[r#"
exit 0
--- stdout
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: demo
spec:
  infrastructureRef:
    apiGroup: infrastructure.cluster.x-k8s.io
    kind: DockerCluster
    name: demo
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
--- stderr
Converted 1 resource(s) to v1beta2. 1 resource(s) passed through unchanged.

"#]]
    );
    assert_eq!(world.run_with_stdin(["convert"], CLUSTER), outcome);
    assert_eq!(world.run_with_stdin(["convert", "-"], CLUSTER), outcome);
}

#[test]
fn an_input_without_objects_prints_nothing() {
    for empty in ["", "---\n"] {
        let outcome = world().run_with_stdin(["convert"], empty);
        assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""), "{outcome}");
    }
}

#[test]
fn the_result_is_written_to_a_private_file() {
    let world = world();
    let outcome = world.run_with_stdin(["convert", "-o", "out.yaml"], CLUSTER);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""));
    assert!(world.read("out.yaml").starts_with("apiVersion: cluster.x-k8s.io/v1beta2\n"));
    assert_eq!(world.files(), ["[CWD]/out.yaml"]);
}

// Row: D-264
#[cfg(unix)]
#[test]
fn an_existing_output_file_becomes_private_for_a_secret() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let world = world();
    let path = world.write("out.yaml", "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\n";
    let outcome = world.run_with_stdin(["convert", "-o", "out.yaml"], format!("{CLUSTER}---\n{secret}"));
    assert_eq!(outcome.status, 0, "{outcome}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

// Row: D-68
#[test]
fn one_invalid_object_prevents_all_output() {
    let world = world();
    let outcome =
        world.run_with_stdin(["convert", "-o", "out.yaml"], format!("{CLUSTER}---\nkind: Cluster\n"));
    assert_data_eq!(
        outcome.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot convert `<stdin>`
  cause: the object at line 16 has no `apiVersion`

"#]]
    );
    assert_eq!(world.files(), Vec::<String>::new());
}

#[test]
fn an_unsupported_version_or_a_missing_file_is_refused() {
    assert_data_eq!(
        world().run(["convert", "--to-version", "v1beta1"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot convert to `v1beta1`
hint: use `--to-version v1beta2`

"#]]
    );
    assert_data_eq!(
        world().run(["convert", "gone.yaml"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot read `[CWD]/gone.yaml`
  cause: the file does not exist

"#]]
    );
}

#[test]
fn a_failed_write_leaves_no_file() {
    let world = world();
    assert_data_eq!(
        world.run_with_stdin(["convert", "-o", "no/out.yaml"], CLUSTER).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot write `[CWD]/no/out.yaml`
  cause: the folder does not exist

"#]]
    );
    assert_eq!(world.files(), Vec::<String>::new());
}
