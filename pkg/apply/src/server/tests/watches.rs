//! Watches that the server interrupts.

use futures::{StreamExt as _, stream::BoxStream};
use serde_json::json;
use snapbox::{assert_data_eq, str};

use crate::{
    ApiError, ApplyRequest, ListQuery, WatchEvent,
    testing::{Lab, MANAGER, Reply, ScriptedServer, TEST_TIMEOUT, config_map, config_maps, object, value},
};

type Events = BoxStream<'static, Result<WatchEvent, ApiError>>;

/// Returns the next events of a watch, as `is NAME VALUE` or `gone NAME VALUE`.
async fn reported(watch: &mut Events, count: usize) -> Vec<String> {
    let mut reported = Vec::new();
    while reported.len() < count {
        let next = tokio::time::timeout(TEST_TIMEOUT, watch.next()).await;
        reported.push(match next.expect("an event arrives in time").unwrap().unwrap() {
            WatchEvent::Updated(object) => format!("is {} {}", object.name(), value(&object)),
            WatchEvent::Deleted(object) => format!("gone {} {}", object.name(), value(&object)),
        });
    }
    reported
}

fn ours() -> ListQuery {
    ListQuery {
        namespace: Some("default".into()),
        fields: "metadata.name!=kube-root-ca.crt".into(),
        ..ListQuery::default()
    }
}

#[tokio::test]
async fn a_watch_reports_existing_objects_and_every_change() {
    let sandbox = Lab::start().await;
    let (server, kind) = (&sandbox.server, &config_maps());
    server.apply(kind, &config_map("a", "1"), MANAGER, ApplyRequest::default()).await.unwrap();
    let mut watch = server.watch(kind, &ours());
    assert_eq!(reported(&mut watch, 1).await, ["is a 1"]);
    server.apply(kind, &config_map("b", "1"), MANAGER, ApplyRequest::default()).await.unwrap();
    server.apply(kind, &config_map("a", "2"), MANAGER, ApplyRequest::default()).await.unwrap();
    server.delete(kind, "default", "b", None).await.unwrap();
    assert_eq!(reported(&mut watch, 3).await, ["is b 1", "is a 2", "gone b 1"]);
}

#[tokio::test]
async fn a_watch_resumes_without_duplicate_events() {
    let sandbox = Lab::start().await;
    sandbox.fixture.inject_fault("drop-watch,resource=configmaps");
    let (server, kind) = (&sandbox.server, &config_maps());
    let mut watch = server.watch(kind, &ours());
    let writes = async {
        for number in 1..=4 {
            server
                .apply(kind, &config_map("a", &number.to_string()), MANAGER, ApplyRequest::default())
                .await
                .unwrap();
        }
    };
    let ((), reported) = tokio::join!(writes, async {
        let mut last = String::new();
        let mut all = Vec::new();
        while last != "is a 4" {
            last = reported(&mut watch, 1).await.remove(0);
            all.push(last.clone());
        }
        all
    });
    let mut once = reported.clone();
    once.dedup();
    assert_eq!(reported, once);
}

#[tokio::test(start_paused = true)]
async fn an_expired_watch_reports_deletions_from_a_new_list() {
    let script = ScriptedServer::default();
    let item = |name: &str, version: &str| {
        let metadata = json!({"name": name, "namespace": "default", "uid": name, "resourceVersion": version});
        json!({"metadata": metadata, "data": {"key": version}})
    };
    let list = |items: &[_]| Reply::json(200, &json!({"metadata": {"resourceVersion": "9"}, "items": items}));
    let expired = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}});
    script.on(
        "GET /api/v1/namespaces/default/configmaps",
        [
            list(&[item("a", "1"), item("b", "1"), item("c", "1")]),
            Reply::Answer(200, "application/json", format!("{expired}\n")),
            list(&[item("a", "1"), item("b", "2")]),
            Reply::Silence,
        ],
    );
    let mut watch = script.lab().await.server.watch(&config_maps(), &ours());
    assert_eq!(reported(&mut watch, 3).await, ["is a 1", "is b 1", "is c 1"]);
    // Only the metadata of a deleted object is kept.
    assert_eq!(reported(&mut watch, 2).await, ["is b 2", "gone c "]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_survives_temporary_errors_and_ends_with_others() {
    let script = ScriptedServer::default();
    let added = json!({"type": "ADDED", "object": config_map("a", "1").into_value()});
    let bookmark = json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "42"}}});
    script.on(
        "GET /api/v1/configmaps",
        [
            Reply::json(200, &json!({"metadata": {"resourceVersion": "9"}, "items": null})),
            Reply::status(503, "ServiceUnavailable", "later"),
            Reply::Answer(200, "application/json", String::new()),
            Reply::Silence,
            Reply::Answer(200, "application/json", format!("{added}\n{bookmark}\n{{\"type\":\"ADD")),
            Reply::status(403, "Forbidden", "no"),
        ],
    );
    let lab = script.lab().await;
    let mut watch = lab.server.watch(&config_maps(), &ListQuery::default());
    assert_eq!(reported(&mut watch, 1).await, ["is a 1"]);
    let error = watch.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, ApiError::Status { code: 403, .. }), "{error:?}");
    assert!(watch.next().await.is_none());
    let last = script.received().pop().unwrap();
    assert!(last.contains("resourceVersion=42"), "{last}");
    assert_data_eq!(
        lab.events.take_retries().join(
            "
"
        ),
        str![[r#"
later
no answer from the API server: the watch ended
no answer from the API server: no data received within 30s
"#]]
    );
}

#[tokio::test]
async fn a_watch_of_metadata_reads_metadata_only() {
    let sandbox = Lab::start().await;
    let (server, kind) = (&sandbox.server, &config_maps());
    let list = ListQuery { metadata_only: true, ..ours() };
    let mut watch = server.watch(kind, &list);
    server.apply(kind, &config_map("a", "1"), MANAGER, ApplyRequest::default()).await.unwrap();
    let WatchEvent::Updated(seen) = watch.next().await.unwrap().unwrap() else { panic!("it is there") };
    let without_data = object(json!({"apiVersion": seen.api_version(), "kind": seen.kind()}));
    assert_eq!(without_data, object(json!({"apiVersion": "v1", "kind": "ConfigMap"})));
    assert_eq!((seen.name(), value(&seen)), ("a", ""));
}
