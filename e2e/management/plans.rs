//! Plans for real providers in text form, and comparison of plans with actual changes.

use serde_json::Value;
use support::{fixture::Fixture, skip::corpus};

use super::peer::{FIRST, FIRST_REAL, Management, SECOND};
use crate::{
    corpus::config,
    server::{Server, differences},
};

const ROLLBACK: &[&str] = &["upgrade", "rollback"];
const DELETE: &[&str] = &["delete", "--all", "--include-crd"];

const UPGRADE: &[&str] = &["upgrade", "apply", "--contract", "v1beta2"];

// Row: D-325
#[tokio::test(flavor = "multi_thread")]
async fn the_diff_of_a_real_upgrade_fits_300_lines() {
    let Some(root) = corpus() else { return };
    let fixture = Fixture::builder().controllers(sandbox::ControllerSwitches::default()).start().await;
    let newest = config(&root);
    let older =
        newest.replace("v1.21.1/cert-manager.yaml\"", "v1.20.3/cert-manager.yaml\", version: v1.20.3");
    let cluster = Management::over(older, fixture.kubeconfig().await);
    let installed = cluster.capstan(&[FIRST_REAL, &["--diff"]].concat());
    assert!(installed.lines().count() <= 600, "{installed}");
    cluster.capstan(FIRST_REAL);
    cluster.configure(&newest);

    let diff = cluster.capstan(&[UPGRADE, &["--diff"]].concat());
    assert!(diff.lines().count() <= 300, "{} lines\n{diff}", diff.lines().count());
    for line in [
        "cert-manager: upgrade from v1.20.3 to v1.21.1",
        "    ~ image cert-manager-controller: v1.20.3 to v1.21.1",
        "cluster-api: v1.13.5 to v1.14.0 in capi-system",
        "    ~ image cluster-api-controller: v1.13.5 to v1.14.0",
        "    + permission to get, list, watch kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
        "    + v1beta2: status.controlPlane.versions (array)",
        "    - v1beta1, v1beta2: spec.bootstrapped (boolean)",
    ] {
        assert!(diff.lines().any(|found| found == line), "{line}\n{diff}");
    }
    assert!(!diff.contains("caBundle"));
    let full = cluster.capstan(&[UPGRADE, &["--diff=full"]].concat());
    assert!(full.lines().count() > 1_000 && full.contains("controller-gen.kubebuilder.io/version: v0.21.0"));
}

/// The steps of a report: the action, and the object by kind and location.
fn steps(report: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(report).unwrap();
    let steps = |owner: &Value| owner["steps"].as_array().cloned().unwrap_or_default();
    let providers = report["providers"].as_array().unwrap().iter().flat_map(steps);
    let reported = |step: Value| {
        let text = |field: &str| step["object"][field].as_str().unwrap_or_default().to_owned();
        let place = if text("namespace").is_empty() { String::new() } else { text("namespace") + "/" };
        let action = step["action"].as_str().unwrap().to_owned();
        (action, format!("{} {place}{}", text("kind"), text("name")))
    };
    steps(&report["certManager"]).into_iter().chain(providers).map(reported).collect()
}

/// True for a record that capstan writes for itself.
fn is_own(object: &str) -> bool {
    let (kind, place) = object.split_once(' ').unwrap();
    let name = place.rsplit('/').next().unwrap();
    matches!(kind, "Lease" | "Provider")
        || name == "providers.clusterctl.cluster.x-k8s.io"
        || kind == "ConfigMap" && name.starts_with("capstan.")
        || kind == "Secret" && name.starts_with("capstan-upgrade")
}

async fn changes_are_those_of_the_plan(server: Server) {
    let cluster = Management::new(server.kubeconfig());
    for verb in [FIRST, SECOND, ROLLBACK, SECOND, DELETE] {
        // A definition that is being deleted is no longer served.
        let wait: &[&str] = if verb == DELETE { &[] } else { &["--no-wait"] };
        let planned = steps(&cluster.capstan(&[verb, &["--dry-run", "-o", "json"]].concat()));
        let before = server.everything().await;
        let done = steps(&cluster.capstan(&[verb, wait, &["-o", "json"]].concat()));
        assert_eq!(planned, done, "{verb:?}");
        let changed = differences(&before, &server.everything().await);
        let unplanned = changed.iter().filter(|object| {
            let is_planned = |(action, step): &(String, String)| step == *object && action != "keep";
            !is_own(object) && !planned.iter().any(is_planned)
        });
        assert_eq!(unplanned.collect::<Vec<_>>(), Vec::<&String>::new(), "{verb:?}");
        let come_and_go = planned.iter().filter(|(action, _)| matches!(action.as_str(), "create" | "delete"));
        let missed = come_and_go.filter(|(_, object)| !changed.contains(object));
        assert_eq!(missed.collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "{verb:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_on_a_sandbox_was_planned() {
    changes_are_those_of_the_plan(Server::sandbox().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_on_a_real_api_server_was_planned() {
    let Some(server) = Server::real() else { return };
    changes_are_those_of_the_plan(server).await;
}
