use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use std::time::Duration;
use support::{fixture::Fixture, request_counter::RequestCounter};

use super::*;
use crate::{
    Event, GroupKind, key_of,
    testing::{Lab, object},
};

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": {"set": "one"}},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "example.com/main"}]}
            }
        }
    })
}

fn pod(name: &str, app: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": "example.com/main"}]}
    })
}

fn ready() -> Value {
    json!({
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}
        ]
    })
}

fn waiting_for(objects: &[Value], seconds: u64) -> WaitRequest {
    let objects = objects.iter().map(|value| (key_of(&object(value.clone())), StatusHints::default()));
    WaitRequest {
        objects: objects.collect(),
        labels: "set=one".to_owned(),
        deadline: Some(Instant::now() + Duration::from_secs(seconds)),
    }
}

/// Formats one line for each blocker, with indented dependencies.
fn lines(blockers: &[Blocker], indent: &str) -> String {
    let line = |blocker: &Blocker| {
        let Blocker { object, status, since, children: below } = blocker;
        let below = lines(below, &format!("{indent}  "));
        format!(
            "{indent}{object} {} {}s: {}\n{below}",
            status.health.as_str(),
            since.as_secs(),
            status.message
        )
    };
    blockers.iter().map(line).collect()
}

/// Returns the blockers of the next event.
async fn reported(lab: &Lab) -> String {
    loop {
        if let Event::Waiting { blockers } = lab.events.next().await {
            return lines(&blockers, "");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn blockers_are_reported_whenever_they_change() {
    let lab = Lab::start().await;
    let (a, b) = (deployment("a"), deployment("b"));
    lab.create(&a).await;
    lab.create(&b).await;
    let server = lab.server.clone();
    let waiting = waiting_for(&[b.clone(), a.clone()], 60);
    let wait = tokio::spawn(async move { server.wait(&waiting).await });
    assert_data_eq!(
        reported(&lab).await,
        str![[r#"
Deployment default/b InProgress 0s: 0 of 1 replicas created
Deployment default/a InProgress 0s: 0 of 1 replicas created

"#]]
    );
    lab.set_status(&a, &ready()).await;
    assert_data_eq!(
        reported(&lab).await,
        str![[r#"
Deployment default/b InProgress 0s: 0 of 1 replicas created

"#]]
    );
    lab.set_status(&b, &ready()).await;
    assert_eq!(reported(&lab).await, "");
    assert_eq!(wait.await.unwrap().unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_blockers_include_their_pods() {
    let lab = Lab::start().await;
    let a = deployment("a");
    lab.create(&a).await;
    lab.set_status(&a, &json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "conditions": [{
        "type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "too few"
    }]})).await;
    let waits = |reason: &str| {
        let waiting = json!({"reason": reason, "message": format!("why {reason}")});
        json!({"phase": "Running", "containerStatuses": [{"name": "main", "state": {"waiting": waiting}}]})
    };
    for (name, app, status) in [
        ("a-1", "a", waits("ImagePullBackOff")),
        ("a-2", "a", waits("CrashLoopBackOff")),
        ("a-3", "a", json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})),
        ("b-1", "b", waits("CrashLoopBackOff")),
    ] {
        let pod = pod(name, app);
        lab.create(&pod).await;
        lab.set_status(&pod, &status).await;
    }
    let blockers = lab.server.wait(&waiting_for(&[a, deployment("missing")], 60)).await.unwrap();
    assert_data_eq!(
        lines(&blockers, ""),
        str![[r#"
Deployment default/a InProgress 60s: Available: 0 of 1 replicas available (MinimumReplicasUnavailable: too few)
  Pod default/a-2 Failed 55s: container main: why CrashLoopBackOff (CrashLoopBackOff)
  Pod default/a-1 InProgress 55s: container main: why ImagePullBackOff (ImagePullBackOff)
Deployment default/missing NotFound 60s: does not exist

"#]]
    );
}

fn definition(plural: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.org"), "labels": {"set": "one"}},
        "spec": {
            "group": "example.org", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": plural, "singular": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_definition_with_rejected_names_ends_the_wait() {
    let lab = Lab::start().await;
    let (theirs, ours) = (definition("widgets"), definition("gadgets"));
    lab.create(&theirs).await;
    lab.create(&ours).await;
    let blockers = lab.server.wait(&waiting_for(&[ours, deployment("missing")], 600)).await.unwrap();
    assert_data_eq!(
        lines(&blockers, ""),
        str![[r#"
CustomResourceDefinition gadgets.example.org Failed 10s: NamesAccepted: "WidgetList" is already in use (ListKindConflict)
Deployment default/missing NotFound 10s: does not exist

"#]]
    );
}

#[tokio::test(start_paused = true)]
async fn pods_without_read_permission_are_omitted() {
    let lab = Lab::with_fixture(Fixture::builder().fault("403,resource=pods").start().await).await;
    let a = deployment("a");
    lab.create(&a).await;
    let blockers = lab.server.wait(&waiting_for(&[a], 60)).await.unwrap();
    assert_eq!(lines(&blockers, ""), "Deployment default/a InProgress 60s: 0 of 1 replicas created\n");
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_kind_in_a_namespace_share_a_watch() {
    let lab = Lab::start().await;
    let all = ["a", "b", "c"].map(deployment);
    for object in &all {
        lab.create(object).await;
        lab.set_status(object, &ready()).await;
    }
    lab.server.kind(&GroupKind::new("apps", "Deployment")).await.unwrap();
    let counter = RequestCounter::start(lab.fixture.sandbox());
    assert_eq!(lab.server.wait(&waiting_for(&all, 60)).await.unwrap(), []);
    assert_data_eq!(
        counter.all().to_string(),
        str![[r#"
1 list deployments
"#]]
    );
    assert_eq!(lab.server.wait(&waiting_for(&[], 60)).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_is_waited_for_again() {
    let lab = Lab::start().await;
    let (a, b) = (deployment("a"), deployment("b"));
    lab.create(&a).await;
    lab.create(&b).await;
    lab.set_status(&a, &ready()).await;
    let server = lab.server.clone();
    let waiting = waiting_for(&[a.clone(), b.clone()], 60);
    let wait = tokio::spawn(async move { server.wait(&waiting).await });
    assert!(!reported(&lab).await.contains("default/a"));
    lab.delete(&a).await;
    assert!(reported(&lab).await.contains("default/a NotFound"));
    lab.set_status(&b, &ready()).await;
    assert!(reported(&lab).await.starts_with("Deployment default/a NotFound"));
    lab.create(&a).await;
    lab.set_status(&a, &ready()).await;
    assert_eq!(wait.await.unwrap().unwrap(), []);
}

#[tokio::test]
async fn a_forbidden_watch_is_an_error_with_its_kind() {
    let lab = Lab::start().await;
    lab.fixture.inject_fault("403,verb=list,resource=apps/deployments");
    let error = lab.server.wait(&waiting_for(&[deployment("a")], 60)).await.unwrap_err();
    assert_eq!(error.code(), Some(403));
    assert!(error.to_string().contains("Deployment.apps"), "{error}");
}
