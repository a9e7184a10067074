//! Tests of `status` as a check: its exit status, and the drifted fields.
#![cfg(unix)]

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::binary::RunOutput;

use crate::{lifecycle::INIT, lifecycle_interrupted::interrupted, testing::Lab};

const DEPLOYMENT: &str =
    "/apis/apps/v1/namespaces/infrastructure-own-system/deployments/infrastructure-own-manager";
const SECRET: &str = "/api/v1/namespaces/infrastructure-own-system/secrets/infrastructure-own-credentials";

fn judged(run: &RunOutput) -> (i32, &str) {
    (run.status, run.stderr.as_str())
}

fn scale(lab: &Lab) {
    let scale = r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"infrastructure-own-manager","namespace":"infrastructure-own-system"},"spec":{"replicas":2}}"#;
    assert_eq!(lab.send("PUT", &format!("{DEPLOYMENT}/scale"), scale), 200);
}

/// Returns the drifted fields of the objects of a kind.
fn drifted(status: &Value, kind: &str) -> Vec<Value> {
    let objects = status["providers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["driftedFields"].as_array().unwrap());
    let fields =
        objects.filter(|of| of["object"]["kind"] == kind).flat_map(|of| of["fields"].as_array().unwrap());
    fields.cloned().collect()
}

// Row: D-335
#[test]
fn the_exit_status_reports_problems() {
    let lab = Lab::start(&[]);
    assert_data_eq!(
        lab.run("status --exit-status").to_string(),
        str![[r#"
exit 3
--- stdout
no providers are installed
--- stderr
error: no providers are installed

"#]]
    );
    lab.done(INIT);
    assert_eq!(judged(&lab.run("status --exit-status")), (0, ""));
    scale(&lab);
    let run = lab.run("status --exit-status -o json");
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(run.status, 3, "{run}");
    assert_data_eq!(error["message"].as_str().unwrap(), str!["one object has drifted"]);
    assert_eq!(lab.send("DELETE", DEPLOYMENT, ""), 200);
    assert_data_eq!(
        lab.run("status --exit-status").to_string(),
        str![[r#"
exit 3
--- stdout
NAME                    VERSION   NAMESPACE                      HEALTH      DRIFT
cluster-api             v1.0.0    cluster-api-system             ready       none
bootstrap-kubeadm       v1.0.0    bootstrap-kubeadm-system       ready       none
control-plane-kubeadm   v1.0.0    control-plane-kubeadm-system   ready       none
infrastructure-own      v1.0.0    infrastructure-own-system      not ready   1 object

infrastructure-own
  Deployment infrastructure-own-system/infrastructure-own-manager: it does not exist
--- stderr
error: one provider is not ready, one object has drifted

"#]]
    );
    assert_eq!(judged(&lab.run("status")), (0, ""));
}

/// Returns the last reason of a failed check. The health before it varies while providers start.
fn last_reason(lab: &Lab) -> String {
    let run = lab.run("status --exit-status -o json");
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(run.status, 3, "{run}");
    error["message"].as_str().unwrap().rsplit(", ").next().unwrap().to_owned()
}

// Row: D-335
#[test]
fn an_unfinished_run_is_a_problem_and_a_lease_is_not() {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    interrupted(&lab, INIT, "Installing provider=\"bootstrap-kubeadm\"");
    assert_data_eq!(last_reason(&lab), str!["an installation is unfinished"]);
    lab.done("init");
    interrupted(&lab, "upgrade apply --contract v1beta2", "Installing provider=\"bootstrap-kubeadm\"");
    assert_data_eq!(last_reason(&lab), str!["an upgrade is unfinished"]);
    lab.done("upgrade resume");

    let lease = r#"{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"capstan","namespace":"kube-system"},"spec":{"holderIdentity":"another-run","leaseDurationSeconds":3600,"acquireTime":"2126-01-01T00:00:00.000000Z","renewTime":"2126-01-01T00:00:00.000000Z"}}"#;
    assert_eq!(lab.send("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease), 201);
    let run = lab.run("status --exit-status -o json");
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, status["lease"].is_object()), (0, true), "{run}");
}

// Row: D-336
#[test]
fn status_diff_names_drifted_fields_and_hides_secrets() {
    let lab = Lab::start(&[]);
    lab.done(INIT);
    let status: Value = serde_json::from_str(&lab.done("status --diff -o json").stdout).unwrap();
    assert_eq!(status["providers"][3]["driftedFields"], json!([]));
    scale(&lab);
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"infrastructure-own-credentials"},"stringData":{"token":"hunter2"}}"#;
    assert_eq!(lab.send("PUT", SECRET, secret), 200);

    let run = lab.done("status --diff -o json");
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    let replicas = drifted(&status, "Deployment");
    assert_eq!((replicas.len(), &replicas[0]["path"]), (1, &json!(".spec.replicas")), "{run}");
    assert_eq!((&replicas[0]["change"], &replicas[0]["value"]), (&json!("changed"), &json!(2)));
    assert!(replicas[0]["manager"].is_string(), "{run}");
    let secret = drifted(&status, "Secret");
    let at =
        |path: &str| secret.iter().find(|field| field["path"] == path).unwrap_or_else(|| panic!("{run}"));
    assert_eq!(
        (&at(".data.token")["change"], &at(".data.token")["value"]),
        (&json!("changed"), &json!("(7 bytes)"))
    );
    assert!(at(".data.token")["time"].is_string(), "{run}");
    assert_eq!(at(".metadata.labels[\"cluster.x-k8s.io/provider\"]")["change"], "removed");

    let text = lab.done("status --diff");
    assert_data_eq!(
        text.to_string(),
        str![[r#"
exit 0
--- stdout
NAME                    VERSION   NAMESPACE                      HEALTH    DRIFT
cluster-api             v1.0.0    cluster-api-system             ready     none
bootstrap-kubeadm       v1.0.0    bootstrap-kubeadm-system       ready     none
control-plane-kubeadm   v1.0.0    control-plane-kubeadm-system   ready     none
infrastructure-own      v1.0.0    infrastructure-own-system      ready     2 objects

infrastructure-own
  Deployment infrastructure-own-system/infrastructure-own-manager: differs from the applied version
    .spec.replicas: 2, set by unknown
  Secret infrastructure-own-system/infrastructure-own-credentials: differs from the applied version
    .data.token: "(7 bytes)", set by unknown at [..]
    .metadata.labels["cluster.x-k8s.io/provider"]: removed
    .metadata.labels["clusterctl.cluster.x-k8s.io"]: removed

"#]]
    );
    let plain = lab.done("status -o json");
    assert!(!plain.stdout.contains("driftedFields"), "{plain}");
    for output in [&run, &text, &plain] {
        assert!(!output.stdout.contains("hunter2") && !output.stdout.contains("aHVudGVyMg"), "{output}");
    }
}
