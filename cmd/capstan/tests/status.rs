//! Tests of `status` as a check: its exit status, and the drifted fields.
#![cfg(unix)]

use serde_json::{Value, json};
use support::binary::RunOutput;

use crate::{
    lab::Lab,
    lifecycle::{INIT, interrupted},
};

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
fn exit_status_tells_what_needs_attention() {
    let lab = Lab::start(&[]);
    assert_eq!(judged(&lab.run("status --exit-status")), (3, "error: no providers are installed\n"));
    lab.done(INIT);
    assert_eq!(judged(&lab.run("status --exit-status")), (0, ""));
    scale(&lab);
    let run = lab.run("status --exit-status -o json");
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((run.status, &error["message"]), (3, &"one object has drifted".into()), "{run}");
    assert_eq!(lab.send("DELETE", DEPLOYMENT, ""), 200);
    let missing = "error: one provider is not ready, one object has drifted\n";
    assert_eq!(judged(&lab.run("status --exit-status")), (3, missing));
    assert_eq!(judged(&lab.run("status")), (0, ""));
}

// Row: D-335
#[test]
fn an_unfinished_run_needs_attention_and_a_lease_does_not() {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    interrupted(&lab, INIT, "Installing provider=\"bootstrap-kubeadm\"");
    let run = lab.run("status --exit-status");
    assert!(run.status == 3 && run.stderr.contains("an `init` is not finished"), "{run}");
    lab.done("init");
    interrupted(&lab, "upgrade apply --contract v1beta2", "Installing provider=\"bootstrap-kubeadm\"");
    let run = lab.run("status --exit-status");
    assert!(run.status == 3 && run.stderr.contains("an upgrade is not finished"), "{run}");
    lab.done("upgrade resume");

    let lease = r#"{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"capstan","namespace":"kube-system"},"spec":{"holderIdentity":"another-run","leaseDurationSeconds":3600,"acquireTime":"2126-01-01T00:00:00.000000Z","renewTime":"2126-01-01T00:00:00.000000Z"}}"#;
    assert_eq!(lab.send("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease), 201);
    let run = lab.run("status --exit-status -o json");
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, status["lease"].is_object()), (0, true), "{run}");
}

// Row: D-336
#[test]
fn diff_names_the_fields_that_drifted_and_hides_secrets() {
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
    assert!(text.stdout.contains("\n    .spec.replicas: 2, set by "), "{text}");
    let plain = lab.done("status -o json");
    assert!(!plain.stdout.contains("driftedFields"), "{plain}");
    for output in [&run, &text, &plain] {
        assert!(!output.stdout.contains("hunter2") && !output.stdout.contains("aHVudGVyMg"), "{output}");
    }
}
