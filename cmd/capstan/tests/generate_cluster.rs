use snapbox::{assert_data_eq, str};

use crate::repository::with_repository;

const DEMO: [&str; 9] =
    ["generate", "cluster", "demo", "-i", "own:v1.1.0", "-n", "team", "--kubernetes-version", "v1.35.0"];

fn demo<'a>(more: &[&'a str]) -> Vec<&'a str> {
    DEMO.iter().chain(more).copied().collect()
}

// Row: PRV-36
// Row: PRV-39
// Row: PRV-51
#[test]
fn a_local_template_is_printed_with_its_class() {
    let run = with_repository().run(demo(&["--control-plane-machine-count=3"]));
    assert_data_eq!(run.stderr, str![""]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: small
  namespace: team
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: demo
  namespace: team
spec:
  topology:
    classRef:
      name: small
    controlPlane:
      replicas: 3
    variables:
    - name: region
      value: eu
    version: v1.35.0

"#]]
    );
}

// Row: PRV-51
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_class_that_exists_on_the_server_is_omitted() {
    let server = support::fixture::Fixture::start().await;
    support::cluster_api::install(&server).await;
    let world = with_repository().env("KUBECONFIG", server.kubeconfig().await.as_os_str());
    let with_class = world.run(demo(&[]));
    assert!(with_class.stdout.contains("kind: ClusterClass\n"), "{with_class}");
    server.create([support::cluster_api::object(support::kind::CLUSTER_CLASS, "team/small")]).await;
    let without = world.run(demo(&[]));
    assert!(without.stdout.starts_with("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\n"), "{without}");
    assert!(!without.stdout.contains("ClusterClass"), "{without}");
}

// Row: PRV-38
#[test]
fn a_flavor_selects_a_file_and_a_missing_one_lists_the_others() {
    let world = with_repository();
    let run = world.run(demo(&["--flavor", "big"]));
    assert!(run.stdout.contains("value: us\n"), "{run}");
    let run = world.run(demo(&["--flavor", "bigg"]));
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: cannot read `cluster-template-bigg.yaml` of `infrastructure-own` v1.1.0
  cause: cannot find file `cluster-template-bigg.yaml` in release `v1.1.0` of `[HOME]/.config/repository/infrastructure-own`
hint: did you mean `cluster-template-big.yaml`?

"#]]
    );
}

// Row: PRV-32
#[test]
fn variables_are_listed_as_required_and_optional() {
    let run = with_repository().run([
        "generate",
        "cluster",
        "demo",
        "-i",
        "own:v1.1.0",
        "-n",
        "team",
        "--list-variables",
    ]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
Required Variables:
  - KUBERNETES_VERSION

Optional Variables:
  - CLUSTER_NAME                 (defaults to demo)
  - CONTROL_PLANE_MACHINE_COUNT  (defaults to 1)
  - REGION                       (defaults to "eu")


"#]]
    );
}

// Row: PRV-32, D-71
#[test]
fn variables_as_json_have_defaults_positions_and_origins() {
    let world = with_repository().env("REGION", "x");
    let run = world.run(demo(&["--list-variables", "-o", "json"]));
    let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let region =
        list["variables"].as_array().unwrap().iter().find(|variable| variable["name"] == "REGION").unwrap();
    assert_data_eq!(
        format!("{}\n", serde_json::to_string_pretty(region).unwrap()),
        str![[r#"
{
  "default": "eu",
  "name": "REGION",
  "origin": {
    "kind": "environment",
    "variable": "REGION"
  },
  "required": false,
  "used": [
    {
      "column": 40,
      "file": "[HOME]/.config/repository/infrastructure-own/v1.1.0/cluster-template.yaml",
      "line": 10
    }
  ]
}

"#]]
    );
}

// Row: D-42, D-72
#[test]
fn missing_variables_are_reported_with_positions_and_hints() {
    let world = with_repository();
    world.write("template.yaml", "a: ${ONE}\nb: ${TWO}-${ONE}\n");
    let run =
        world.env("TWOO", "x").run(["generate", "cluster", "demo", "--from", "template.yaml", "-n", "team"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: cannot generate cluster `demo`
  cause: 2 variables have no value
  cause: `ONE` at [CWD]/template.yaml:1 and 1 more place
    `TWO` at [CWD]/template.yaml:2
hint: `TWOO` is set; did you mean `TWO`?
hint: set the missing variables with `export ONE=VALUE TWO=VALUE`, or in clusterctl.yaml: `ONE: VALUE`, `TWO: VALUE`
hint: list all variables with their defaults: `capstan generate cluster NAME --list-variables`, or for a provider `capstan generate provider --describe`

"#]]
    );
}

// Row: D-71
#[test]
fn json_output_is_one_list_that_kubectl_can_apply() {
    let run = with_repository().run(demo(&["-o", "json"]));
    let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((list["apiVersion"].as_str(), list["kind"].as_str()), (Some("v1"), Some("List")));
    let kinds: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|item| item["kind"].as_str()).collect();
    assert_eq!(kinds, ["ClusterClass", "Cluster"]);
}

// Row: D-60
#[test]
fn an_output_file_is_private_and_replaced_atomically() {
    let world = with_repository();
    world.write("out.yaml", "before\n");
    let failed = world.run([
        "generate",
        "cluster",
        "demo",
        "-i",
        "own:v1.1.0",
        "-n",
        "team",
        "--write-to",
        "out.yaml",
    ]);
    assert_eq!(failed.status, 1);
    assert_eq!(world.read("out.yaml"), "before\n");
    let run = world.run(demo(&["--write-to", "out.yaml"]));
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert!(world.read("out.yaml").starts_with("apiVersion: cluster.x-k8s.io/v1beta2\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = world.current_dir().join("new.yaml");
        world.run(demo(&["--write-to", "new.yaml"]));
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_template_has_exactly_one_source() {
    let run = with_repository().run(demo(&["--from", "x.yaml"]));
    assert_eq!(run.status, 1);
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: several template sources are given
hint: use only one of `--infrastructure` with `--flavor`, `--from`, or `--from-config-map`

"#]]
    );
}

// Row: D-59
#[test]
fn templates_in_a_config_map_require_a_management_cluster() {
    let world = with_repository();
    assert_data_eq!(
        world.screens([
            "generate cluster demo -n team",
            "generate cluster demo -n team -i own",
            "generate cluster demo -n team --from-config-map x",
        ]),
        str![[r#"
$ capstan generate cluster demo -n team
exit 1
--- stderr
error: detecting the installed provider needs a management cluster
  cause: cannot find a kubeconfig
hint: use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG (these files do not exist: [HOME]/.kube/config)
hint: add the provider and version: `--infrastructure docker:v1.14.0`

$ capstan generate cluster demo -n team -i own
exit 1
--- stderr
error: detecting the installed provider needs a management cluster
  cause: cannot find a kubeconfig
hint: use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG (these files do not exist: [HOME]/.kube/config)
hint: add the version: `--infrastructure own:VERSION`

$ capstan generate cluster demo -n team --from-config-map x
exit 1
--- stderr
error: reading a template from a ConfigMap needs a management cluster
  cause: cannot find a kubeconfig
hint: use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG (these files do not exist: [HOME]/.kube/config)

"#]]
    );
}

#[test]
fn the_namespace_of_the_kubeconfig_is_the_default() {
    let world = with_repository();
    world.write(
        "kubeconfig",
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- {name: c, context: {cluster: c, user: u, namespace: from-context}}\n",
    );
    let run = world.run([
        "generate",
        "cluster",
        "demo",
        "-i",
        "own:v1.1.0",
        "--kubernetes-version",
        "v1.35.0",
        "--kubeconfig",
        "kubeconfig",
    ]);
    assert_eq!(run.stdout.matches("namespace: from-context").count(), 2, "{run}");
    assert_data_eq!(
        run.messages(),
        str![[r#"
exit 0
--- stderr
warning: the output includes ClusterClass `from-context/small`, which may already exist in context `c`: context `c` names user `u`, which the kubeconfig does not have

"#]]
    );
}

#[test]
fn a_missing_kubeconfig_or_context_is_an_error() {
    let world = with_repository();
    world.write(
        "kubeconfig",
        "apiVersion: v1\nkind: Config\ncontexts:\n- {name: c, context: {cluster: c, user: u}}\n",
    );
    world.write("template.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n");
    let (generate, unreadable) = ("generate cluster demo -n team --list-variables", "--kubeconfig gone");
    let no_context = "--kubeconfig kubeconfig --kubeconfig-context d";
    assert_data_eq!(
        world.screens([
            format!("{generate} -i own:v1.1.0 {unreadable}"),
            format!("{generate} -i own:v1.1.0 {no_context}"),
            format!("{generate} --from template.yaml {unreadable}"),
            format!("{generate} --from template.yaml {no_context}"),
        ]),
        str![[r#"
$ capstan generate cluster demo -n team --list-variables -i own:v1.1.0 --kubeconfig gone
exit 1
--- stderr
error: cannot read the kubeconfig `[CWD]/gone`
  cause: No such file or directory (os error 2)
hint: use another file with `--kubeconfig FILE`

$ capstan generate cluster demo -n team --list-variables -i own:v1.1.0 --kubeconfig kubeconfig --kubeconfig-context d
exit 1
--- stderr
error: the kubeconfig has no context `d`
hint: the kubeconfig has `c`

$ capstan generate cluster demo -n team --list-variables --from template.yaml --kubeconfig gone
exit 0
--- stdout


$ capstan generate cluster demo -n team --list-variables --from template.yaml --kubeconfig kubeconfig --kubeconfig-context d
exit 0
--- stdout


"#]]
    );
}

#[test]
fn a_template_is_read_from_standard_input() {
    let world = with_repository();
    let run = world.run_with_stdin(
        ["generate", "cluster", "demo", "--from", "-", "-n", "team"],
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: \"${CLUSTER_NAME}\"}\n",
    );
    assert_data_eq!(
        run.stdout,
        str![[r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: demo
  namespace: team

"#]]
    );
}

// Row: D-49
#[test]
fn every_invalid_document_is_reported_with_its_line() {
    let world = with_repository();
    world.write("bad.yaml", "a: [\n---\nok: 1\n---\n- x\n");
    let run = world.run(["generate", "cluster", "demo", "--from", "bad.yaml", "-n", "team"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot generate cluster `demo`
  cause: cannot read documents in `[CWD]/bad.yaml`
  cause: document 1, line 1, column 4: did not find expected `,` or `]`; document 3, line 5, column 1: expected a mapping, found a list

"#]]
    );
}
