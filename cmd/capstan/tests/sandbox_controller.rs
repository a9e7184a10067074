//! Tests of `sandbox start --with controller`.
#![cfg(unix)]

use std::time::{Duration, Instant};

use snapbox::{assert_data_eq, str};

use crate::testing::{Sandboxes, send};

const COMPONENTS: &str = "/apis/core.cs.sap.com/v1alpha1/namespaces/default/components";
const BLUEPRINTS: &str = "/apis/core.cs.sap.com/v1alpha1/namespaces/default/blueprints";

const BLUEPRINT: &str = r#"{
    "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Blueprint", "metadata": {"name": "web"},
    "spec": {"files": {"map.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ name }}'}}"}}
}"#;
const COMPONENT: &str = r#"{
    "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Component", "metadata": {"name": "web"},
    "spec": {"sourceRef": {"blueprint": {"name": "web"}}}
}"#;

const OTHER_COMPONENT: &str = r#"{
    "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Component", "metadata": {"name": "api"},
    "spec": {"sourceRef": {"blueprint": {"name": "web"}}}
}"#;

/// Returns true once a condition holds, within some seconds.
fn becomes(condition: impl Fn() -> bool) -> bool {
    let started_at = Instant::now();
    while started_at.elapsed() < Duration::from_secs(20) {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn post(sandboxes: &Sandboxes, path: &str, body: &'static str) -> u16 {
    send(&sandboxes.file("lab", "kubeconfig"), "POST", path, body)
}

#[test]
fn a_sandbox_reconciles_components_until_it_stops() {
    let sandboxes = Sandboxes::new();
    let started = sandboxes.run(&["start", "lab", "--with", "controller"]);
    assert_eq!(started.status, 0, "{started}");
    assert_eq!(post(&sandboxes, BLUEPRINTS, BLUEPRINT), 201);
    assert_eq!(post(&sandboxes, COMPONENTS, COMPONENT), 201);
    let map = "/api/v1/namespaces/default/configmaps/web";
    assert!(becomes(|| sandboxes.ask("lab", "GET", map) == 200));
    let one = format!("{COMPONENTS}/web");
    assert!(becomes(|| sandboxes.run(&["logs", "lab"]).stdout.contains("Component default/web is Ready")));
    assert_eq!(sandboxes.ask("lab", "DELETE", &one), 200);
    assert!(becomes(|| sandboxes.ask("lab", "GET", &one) == 404));
    assert_eq!(sandboxes.ask("lab", "GET", map), 404);
    let stopped = sandboxes.run(&["stop", "lab"]);
    assert_eq!(stopped.status, 0, "{stopped}");
    // Without the flag, the definitions stay, and nobody reconciles.
    assert_eq!(sandboxes.run(&["start", "lab"]).status, 0);
    assert_eq!(post(&sandboxes, COMPONENTS, COMPONENT), 201);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(sandboxes.ask("lab", "GET", map), 404);
    let refused = sandboxes.run(&["start", "other", "--with", "flux"]);
    assert_data_eq!(
        refused.to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown controller `flux`
hint: use `--with controller` for the controller of Components; all others run unless `--without` names them

"#]]
    );
}

#[test]
fn a_controller_goes_on_after_its_api_server_was_killed() {
    let sandboxes = Sandboxes::new();
    assert_eq!(sandboxes.run(&["start", "lab", "--with", "controller"]).status, 0);
    assert_eq!(sandboxes.run(&["stop", "lab"]).status, 0);
    assert_eq!(sandboxes.run(&["start", "lab"]).status, 0);
    assert_eq!(post(&sandboxes, BLUEPRINTS, BLUEPRINT), 201);
    let line = "controller --sandbox lab --leader-elect --namespace default --metrics-bind-address 0 --health-probe-bind-address 0";
    let controller = sandboxes.world().start(line);
    for (name, component) in [("web", COMPONENT), ("api", OTHER_COMPONENT)] {
        assert_eq!(post(&sandboxes, COMPONENTS, component), 201);
        let map = format!("/api/v1/namespaces/default/configmaps/{name}");
        assert!(becomes(|| sandboxes.ask("lab", "GET", &map) == 200), "{name}");
        sandboxes.kill("lab");
        assert_eq!(sandboxes.run(&["start", "lab"]).status, 0);
    }
    drop(controller);
}
