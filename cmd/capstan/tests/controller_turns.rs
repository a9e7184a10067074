//! Commands for Components beside a controller that works on the same cluster.
#![cfg(unix)]

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{fixture::Fixture, kind::CONFIG_MAP};

use crate::{
    component_turns::COMPONENT,
    controller::{Controller, WEB},
    testing::{Management, blueprint_component},
};

/// The time for a command to do what it must not do.
const PAUSE: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_mins(1);

/// A sandbox with a working controller and the Blueprint of Component `shop/web`, whose file is `web.yaml`.
async fn start() -> (Management, Controller) {
    let lab = Management::start(Fixture::builder().clock_at("2026-01-02T03:04:05Z")).await;
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture.wait_until_idle().await;
    let (blueprint, component) = WEB.split_once("---").unwrap();
    lab.fixture.apply(blueprint).await;
    lab.world().write("web.yaml", component);
    let mut controller = Controller::start(&lab, "--leader-elect --namespace kube-system");
    controller.wait_for("started", "");
    (lab, controller)
}

async fn component(lab: &Management) -> Option<Value> {
    lab.fixture.get(COMPONENT, "shop/web").await
}

async fn is_deleting(lab: &Management) -> bool {
    component(lab).await.is_some_and(|live| !live["metadata"]["deletionTimestamp"].is_null())
}

async fn wait_until(lab: &Management, condition: impl AsyncFn(&Management) -> bool) {
    let started_at = Instant::now();
    while !condition(lab).await {
        assert!(started_at.elapsed() < TIMEOUT, "{:#}", component(lab).await.unwrap_or_default());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for a command that must succeed.
fn finish(command: Child) {
    let output = command.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_and_delete_leave_the_objects_to_a_working_controller() {
    let (lab, controller) = start().await;
    controller.signal("STOP");
    let apply = lab.spawn("component apply web.yaml");
    wait_until(&lab, async |lab| component(lab).await.is_some()).await;
    thread::sleep(PAUSE);
    assert_eq!(lab.fixture.get(CONFIG_MAP, "shop/web").await, None);
    controller.signal("CONT");
    finish(apply);
    assert!(lab.fixture.get(CONFIG_MAP, "shop/web").await.is_some());

    controller.signal("STOP");
    let delete = lab.spawn("component delete web -n shop");
    wait_until(&lab, is_deleting).await;
    thread::sleep(PAUSE);
    assert!(lab.fixture.get(CONFIG_MAP, "shop/web").await.is_some());
    controller.signal("CONT");
    finish(delete);
    assert_eq!((component(&lab).await, lab.fixture.get(CONFIG_MAP, "shop/web").await), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_continues_alone_if_the_controller_stops_working() {
    let (lab, controller) = start().await;
    controller.signal("STOP");
    let apply = lab.spawn("component apply web.yaml");
    wait_until(&lab, async |lab| component(lab).await.is_some()).await;
    lab.fixture.advance(Duration::from_mins(1));
    finish(apply);
    assert!(lab.fixture.get(CONFIG_MAP, "shop/web").await.is_some());
    assert_eq!(component(&lab).await.unwrap()["status"]["state"], "Ready");
    // The former leader may not write any more.
    controller.signal("CONT");
    assert_ne!(controller.wait(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_continues_alone_with_what_the_controller_has_recorded() {
    let (lab, controller) = start().await;
    assert_eq!(lab.run("component apply web.yaml").status, 0);
    controller.signal("STOP");
    let delete = lab.spawn("component delete web -n shop");
    wait_until(&lab, is_deleting).await;
    // The controller has created and recorded an object in the meantime.
    let mut late = lab.fixture.get(CONFIG_MAP, "shop/web").await.unwrap();
    let metadata = &late["metadata"];
    late["metadata"] = json!({"name": "late", "namespace": "shop", "labels": metadata["labels"],
        "annotations": metadata["annotations"]});
    lab.fixture.apply(&late.to_string()).await;
    let mut inventory = component(&lab).await.unwrap()["status"]["inventory"].as_array().unwrap().clone();
    let mut item = inventory[0].clone();
    item["name"] = json!("late");
    inventory.push(item);
    lab.fixture.merge_status(COMPONENT, "shop/web", &json!({"status": {"inventory": inventory}})).await;
    lab.fixture.advance(Duration::from_mins(1));
    finish(delete);
    assert_eq!((component(&lab).await, lab.fixture.get(CONFIG_MAP, "shop/late").await), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_controller_are_those_of_the_command() {
    let (lab, _controller) = start().await;
    let (_, component) = WEB.split_once("---").unwrap();
    lab.world().write("web.yaml", component.replace(": blue", ": \"blue', /: 'x\""));
    let failed = lab.run("component apply web.yaml");
    assert_data_eq!(
        failed.to_string(),
        str![[r#"
exit 3
--- stderr
waiting for the controller: `controller` on [..] (process [..], since [..])
warning: metadata.finalizers: "component-operator.cs.sap.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers (API warning while applying Component shop/web)
error: the controller cannot apply Component `shop/web`
  cause: Error reconciling dependent resources: cannot apply ConfigMap shop/web: data[/]: Invalid value: "/": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')
hint: see its objects with `capstan component status shop/web`

"#]]
    );
    lab.world().write("web.yaml", component);
    assert_eq!(lab.run("component apply web.yaml").status, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_cannot_apply_files_of_the_command() {
    let (lab, _controller) = start().await;
    lab.world().write("files/map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: map}}");
    let refused = lab.run("component apply web.yaml --source files");
    assert_data_eq!(
        refused.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot apply with `--source` or `--values`
  cause: a controller works on the Components of this cluster: `controller` on [..] (process [..], since [..])
hint: set `spec.sourceRef` and `spec.values` of the Components, or stop the controller

"#]]
    );
    assert_eq!(component(&lab).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_refuses_objects_that_only_the_files_have() {
    let (lab, _controller) = start().await;
    let secret =
        "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values: 'colour: red'}}";
    let web = WEB.replace("  values: {colour: blue}", "  valuesFrom: [{name: values}]");
    let (blueprint, web) = web.split_once("---").unwrap();
    let blueprint = blueprint.replace("version:", "release:");
    lab.world().write("web.yaml", format!("{blueprint}---{web}---\n{secret}\n"));
    let refused = lab.run("component apply web.yaml");
    assert_data_eq!(
        refused.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot apply with Secrets and sources of files
  cause: Secret shop/values is only in the files
  cause: Blueprint shop/maps differs between the files and the cluster
  cause: a controller works on the Components of this cluster: `controller` on [..] (process [..], since [..])
hint: apply these objects with `kubectl apply -f [CWD]/web.yaml` and try again, or stop the controller

"#]]
    );
    assert_eq!(component(&lab).await, None);
    lab.fixture.apply(&secret.replace("values}", "values, namespace: shop}")).await;
    lab.fixture.apply(&blueprint).await;
    assert_eq!(lab.run("component apply web.yaml").status, 0);
    assert_eq!(lab.fixture.get(CONFIG_MAP, "shop/web").await.unwrap()["data"]["colour"], "red");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_deletion_names_the_reason_of_the_controller() {
    let (lab, _controller) = start().await;
    let (_, web) = WEB.split_once("---").unwrap();
    lab.fixture.apply(&format!("{web}  dependencies: [{{name: web}}]\n")).await;
    assert_data_eq!(
        lab.run("component delete web -n shop --timeout 3s").to_string(),
        str![[r#"
exit 1
--- stderr
waiting for the controller: `controller` on [..] (process [..], since [..])
Component `shop/web` waits: Deletion blocked by depending component shop/web
error: the objects of Component `shop/web` are not deleted after 3[..]s
  cause: Deletion blocked by depending component shop/web

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_of_a_record_is_deleted_beside_a_controller() {
    let lab = Management::start(Fixture::builder()).await;
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}";
    lab.world().write("web.yaml", blueprint_component("web", "", map));
    assert_eq!(lab.run("component apply web.yaml").status, 0);
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.wait_until_idle().await;
    let mut controller = Controller::start(&lab, "--leader-elect --namespace kube-system");
    controller.wait_for("started", "");
    assert_eq!(lab.run("component delete web").status, 0);
    assert_eq!(lab.fixture.get(CONFIG_MAP, "default/web").await, None);
    assert_eq!(lab.fixture.list(support::kind::SECRET).await.len(), 0);
}
