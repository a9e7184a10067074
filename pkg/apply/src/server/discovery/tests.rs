use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    ApiError, ApiKind, GroupKind, ServedKinds, WriteMode,
    testing::{Lab, Reply, ScriptedServer, object},
};

fn definition() -> manifest::Object {
    let version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    });
    object(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced", "versions": [version],
            "names": {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
        },
    }))
}

fn line(kind: &ApiKind) -> String {
    let scope = if kind.namespaced { "namespaced" } else { "cluster" };
    format!("{} {} {} {scope}", kind.api_version(), kind.kind, kind.plural)
}

fn lines(kinds: &ServedKinds) -> Vec<String> {
    kinds.iter().map(line).collect()
}

#[tokio::test]
async fn discovery_takes_two_requests_once() {
    let sandbox = Lab::start().await;
    let server = &sandbox.server;
    let (first, second) = tokio::join!(server.kinds(), server.kinds());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(server.requests(), 2);
    let deployment = first.preferred(&GroupKind::new("apps", "Deployment")).unwrap();
    assert_eq!(line(deployment), "apps/v1 Deployment deployments namespaced");
    assert!(deployment.supports("watch") && !deployment.supports("fly"));
    assert!(first.iter().all(|kind| !kind.plural.contains('/')));
    assert_eq!(first.unavailable().count(), 0);
}

#[tokio::test]
async fn a_new_kind_is_found_by_a_second_discovery() {
    let sandbox = Lab::start().await;
    let (server, thing) = (&sandbox.server, GroupKind::new("example.org", "Thing"));
    let error = server.kind(&thing).await.unwrap_err();
    assert!(matches!(&error, ApiError::UnknownKind { kind, .. } if kind == "Thing.example.org"), "{error:?}");
    assert!(error.is_not_found());
    assert_eq!(server.requests(), 4);
    let definitions =
        server.kind(&GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition")).await.unwrap();
    server.create(&definitions, &definition(), "me", WriteMode::Real).await.unwrap();
    assert_eq!(line(&server.kind(&thing).await.unwrap()), "example.org/v1 Thing things namespaced");
}

#[tokio::test]
async fn a_discovery_invalidated_meanwhile_is_repeated() {
    let script = ScriptedServer::default();
    let nothing = Reply::json(200, &json!({"kind": "APIGroupDiscoveryList", "items": []}));
    script.on("GET /api", [nothing.clone()]).on("GET /apis", [nothing]);
    let server = script.lab().await.server;
    let mut asking = Box::pin(server.kinds());
    assert!(futures::poll!(&mut asking).is_pending());
    server.forget_kinds();
    asking.await.unwrap();
    server.kinds().await.unwrap();
    server.kinds().await.unwrap();
    assert_eq!(server.requests(), 4);
}

fn resource(kind: &str, plural: &str, scope: &str) -> Value {
    json!({
        "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": scope,
        "verbs": ["get"], "subresources": [{"subresource": "status"}],
    })
}

// Row: D-95
#[tokio::test]
async fn an_unavailable_aggregated_api_does_not_stop_discovery() {
    let script = ScriptedServer::default();
    let groups = |items| Reply::json(200, &json!({"kind": "APIGroupDiscoveryList", "items": items}));
    let group = |name: &str, versions| json!({"metadata": {"name": name}, "versions": versions});
    let core = json!({"version": "v1", "freshness": "Current", "resources": [resource("Pod", "pods", "Namespaced")]});
    let things = json!({"version": "v2", "resources": [resource("Thing", "things", "Cluster")]});
    let older = json!({"version": "v1", "resources": [resource("Thing", "things", "Cluster")]});
    let dead = json!({"version": "v1beta1", "freshness": "Stale"});
    let no_kind = json!({"version": "v1", "resources": [{"resource": "odd", "scope": "Cluster"}]});
    script.on("GET /api", [groups(json!([group("", json!([core]))]))]).on(
        "GET /apis",
        [groups(json!([
            group("example.org", json!([things, older])),
            group("metrics.example.org", json!([dead])),
            group("odd.example.org", json!([no_kind])),
        ]))],
    );
    let lab = script.lab().await;
    let kinds = lab.server.kinds().await.unwrap();
    assert_eq!(lines(&kinds), ["v1 Pod pods namespaced", "example.org/v2 Thing things cluster"]);
    assert!(kinds.version(&GroupKind::new("example.org", "Thing"), "v1").is_some());
    assert_eq!(kinds.unavailable().collect::<Vec<_>>(), ["metrics.example.org/v1beta1"]);
    let error = lab.server.kind(&GroupKind::new("metrics.example.org", "NodeMetrics")).await.unwrap_err();
    assert!(
        matches!(&error, ApiError::UnavailableGroup { group_version, .. } if group_version == "metrics.example.org/v1beta1")
    );
    assert!(!error.is_not_found() && !error.is_temporary());
}

#[tokio::test(start_paused = true)]
async fn an_old_server_is_discovered_group_by_group() {
    let script = ScriptedServer::default();
    let resources = |resources| Reply::json(200, &json!({"kind": "APIResourceList", "resources": resources}));
    let resource =
        |name: &str, kind: &str| json!({"name": name, "kind": kind, "namespaced": true, "verbs": ["get"]});
    let version = |name: &str| json!({"groupVersion": name, "version": name});
    let group = |name: &str| json!({"name": name, "versions": [version("v1"), version("v2")], "preferredVersion": version("v2")});
    let things = resources(json!([resource("things", "Thing"), resource("things/status", "Thing")]));
    let busy = Reply::status(429, "TooManyRequests", "storage is (re)initializing");
    let dead = Reply::Answer(503, "text/plain", "service unavailable".into());
    script
        .on("GET /api", [Reply::json(200, &json!({"kind": "APIVersions", "versions": ["v1"]}))])
        .on(
            "GET /apis",
            [Reply::json(200, &json!({"kind": "APIGroupList", "groups": [group("a.org"), group("b.org")]}))],
        )
        .on("GET /api/v1", [resources(json!([resource("pods", "Pod"), resource("pods/log", "Pod")]))])
        .on("GET /apis/a.org/v1", [things.clone()])
        .on("GET /apis/a.org/v2", [busy, things])
        .on("GET /apis/b.org/v1", [dead]);
    let kinds = script.lab().await.server.kinds().await.unwrap();
    assert_eq!(lines(&kinds), ["v1 Pod pods namespaced", "a.org/v2 Thing things namespaced"]);
    assert_eq!(kinds.unavailable().collect::<Vec<_>>(), ["b.org/v1", "b.org/v2"]);
}
