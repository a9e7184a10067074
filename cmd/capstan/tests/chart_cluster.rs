//! Tests of `chart template` with a cluster.

use snapbox::{assert_data_eq, str};
use support::{fixture::Fixture, kind};

use crate::testing::Management;

/// Starts a sandbox with one ConfigMap, and writes a chart that looks it up.
async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: known}, data: {size: large}}")
        .await;
    lab.world().write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n");
    lab.world().write(
        "web/templates/map.yaml",
        r#"{{- $known := lookup "v1" "ConfigMap" .Release.Namespace "known" }}
{{- $none := lookup "v1" "ConfigMap" .Release.Namespace "none" }}
{{- $list := lookup "v1" "ConfigMap" .Release.Namespace "" }}
{{- $unserved := lookup "example.org/v1" "Thing" "" "x" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: copy
data:
  known: {{ dig "data" "size" "not found" $known }}
  none: {{ $none | toJson | quote }}
  kind: {{ $list.kind | default "not found" }}
  names: {{ range $list.items }}{{ .metadata.name }} {{ end }}
  unserved: {{ $unserved | toJson | quote }}
  serves: {{ .Capabilities.APIVersions.Has "cluster.x-k8s.io/v1beta1" | quote }}
  version: {{ .Capabilities.KubeVersion.Version }}
"#,
    );
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_look_up_objects_only_on_request() {
    let lab = lab().await;
    let alone = lab.run("chart template x web --dry-run");
    assert_data_eq!(
        lab.run("chart template x web --dry-run=server").to_string(),
        str![[r#"
exit 0
--- stdout
---
# Source: web/templates/map.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: copy
data:
  known: large
  none: "{}"
  kind: ConfigMapList
  names: known kube-root-ca.crt 
  unserved: "{}"
  serves: "false"
  version: v1.37.0

"#]]
    );
    assert_data_eq!(
        alone.to_string(),
        str![[r#"
exit 0
--- stdout
---
# Source: web/templates/map.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: copy
data:
  known: not found
  none: "{}"
  kind: not found
  names: 
  unserved: "{}"
  serves: "false"
  version: v1.37.0

"#]]
    );
    assert_data_eq!(
        lab.run("chart template x web --dry-run=sever").to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value `sever` for `--dry-run`
hint: use `--dry-run=client` or `--dry-run=server`

"#]]
    );
}

// Row: D-389
#[tokio::test(flavor = "multi_thread")]
async fn validation_reports_every_refused_object_of_a_chart() {
    let lab = lab().await;
    let accepted = lab.run("chart template x web --validate");
    assert_eq!((accepted.status, accepted.stderr.as_str()), (0, ""), "{accepted}");
    lab.world().write(
        "web/templates/bad.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 99999}]}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {name: UPPER}\n",
    );
    assert_data_eq!(
        lab.run("chart template x web --validate").to_string(),
        str![[r#"
exit 1
--- stderr
error: the cluster does not accept the objects
  cause: cannot write 2 objects
  cause: cannot apply ConfigMap default/UPPER: metadata.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(/.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
  cause: cannot apply Service default/a: [spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 99999: must be between 1 and 65535, inclusive]

"#]]
    );
    lab.world().write(
        "web/templates/bad.yaml",
        "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: a}\n---\n\
         apiVersion: example.org/v1\nkind: Other\nmetadata: {name: a}\n",
    );
    assert_data_eq!(
        lab.run("chart template x web --validate").to_string(),
        str![[r#"
exit 1
--- stderr
error: the cluster does not accept the objects
  cause: cannot apply 2 objects
  cause: Other a: neither the server nor the set defines kind `Other.example.org`
  cause: Thing a: neither the server nor the set defines kind `Thing.example.org`

"#]]
    );
    let maps = lab.fixture.list(kind::CONFIG_MAP).await;
    assert!(maps.iter().all(|map| map["metadata"]["name"] != "copy"), "a dry run writes nothing");
}

#[test]
fn an_unreachable_cluster_is_an_error_before_the_chart_is_loaded() {
    let world = crate::world();
    let run = world.run_line("chart template x web --validate");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot find a kubeconfig
hint: use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG (these files do not exist: [HOME]/.kube/config)

"#]]
    );
}
