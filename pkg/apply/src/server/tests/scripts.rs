//! Answers that no sandbox gives.

use snapbox::{assert_data_eq, str};
use std::time::Duration;

use futures::{StreamExt as _, future::join_all, poll};
use manifest::{Object, Value};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    ApiError, ApiKind, ApplyRequest, Event, ListQuery, NetworkError, ObjectPage, ServerOptions,
    testing::{MANAGER, Reply, ScriptedLab, ScriptedServer, config_map, config_maps, object},
};

const ONE: &str = "/api/v1/namespaces/default/configmaps/a";

fn patch(path: &str) -> String {
    format!("PATCH {path}")
}

/// Returns a page of ConfigMaps with the token of the next page.
fn page(next: &str, names: &[&str]) -> Reply {
    let items: Vec<Value> = names.iter().map(|name| json!({"metadata": {"name": name}})).collect();
    Reply::json(200, &json!({"metadata": {"continue": next, "resourceVersion": "1"}, "items": items}))
}

async fn applied(lab: &ScriptedLab, object: &Object) -> Result<Object, ApiError> {
    lab.server.apply(&config_maps(), object, MANAGER, ApplyRequest::default()).await
}

#[tokio::test(start_paused = true)]
async fn a_proxy_page_is_quoted_and_temporary_ones_are_retried() {
    let script = ScriptedServer::default();
    let page = |code| Reply::Answer(code, "text/html; charset=utf-8", "<h1>Bad\n\n Gateway</h1>".into());
    script.on("GET /version", [page(200), page(403)]);
    let lab = script.lab().await;
    assert_data_eq!(
        lab.server.version().await.unwrap_err().to_string(),
        str![
            "cannot read the version of the server: the API server did not answer like a Kubernetes API server: expected value at line 1 column 1; the answer begins with `<h1>Bad Gateway</h1>`"
        ]
    );
    let error = lab.server.version().await.unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str![
            "cannot read the version of the server: the API server did not answer like a Kubernetes API server: status 403, `text/html`, the answer begins with `<h1>Bad Gateway</h1>`"
        ]
    );
    assert_eq!((error.code(), error.is_temporary()), (Some(403), false));
    script.on(&patch(ONE), [page(502), Reply::json(200, &json!({"kind": "ConfigMap"}))]);
    applied(&lab, &config_map("a", "1")).await.unwrap();
}

#[tokio::test]
async fn each_warning_is_reported_once() {
    let script = ScriptedServer::default();
    let good = Reply::json(200, &json!({}));
    let warned = Reply::WithHeader("warning", r#"299 - "unknown field \"x\"""#, Box::new(good));
    script.on(&patch(ONE), [Reply::WithHeader("warning", r#"299 - "old""#, Box::new(warned))]);
    let lab = script.lab().await;
    for _ in 0..2 {
        applied(&lab, &config_map("a", "1")).await.unwrap();
    }
    let warnings: Vec<_> =
        lab.events.take().into_iter().filter(|event| matches!(event, Event::Warning { .. })).collect();
    let expected = [
        r#"Warning { text: "unknown field \"x\"", action: "apply ConfigMap default/a" }"#,
        r#"Warning { text: "old", action: "apply ConfigMap default/a" }"#,
    ];
    let found: Vec<_> = warnings.iter().map(|event| format!("{event:?}")).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_read_reports_no_warnings() {
    let script = ScriptedServer::default();
    let good = Reply::json(200, &json!({"metadata": {}, "items": []}));
    script.on(
        "GET /api/v1/configmaps",
        [Reply::WithHeader("warning", r#"299 - "v1 ConfigMap is deprecated""#, Box::new(good))],
    );
    let lab = script.lab().await;
    assert_eq!(lab.server.list(&config_maps(), &ListQuery::default()).await.unwrap(), []);
    assert!(!lab.events.take().iter().any(|event| matches!(event, Event::Warning { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_large_object_gets_more_time_and_is_read_before_a_retry() {
    let script = ScriptedServer::default();
    let large = config_map("a", &"x".repeat(300_000));
    let mut there = large.clone().into_value();
    there["metadata"]["managedFields"] = json!([{"manager": MANAGER}]);
    script.on(&patch(ONE), [Reply::Silence]).on(&format!("GET {ONE}"), [Reply::json(200, &there)]);
    let (lab, start) = (script.lab().await, Instant::now());
    applied(&lab, &large).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_mins(2));
    let words = |request: String| request.split(' ').next().unwrap().to_owned();
    assert_eq!(script.received().into_iter().map(words).collect::<Vec<_>>(), ["PATCH", "GET"]);
}

#[tokio::test(start_paused = true)]
async fn a_small_object_is_sent_again_after_a_timeout() {
    let script = ScriptedServer::default();
    script.on("GET /version", [Reply::json(200, &json!({"gitVersion": "v1.36.0"}))]);
    script.on(&patch(ONE), [Reply::Silence, Reply::json(200, &json!({}))]);
    let lab = script.lab().await;
    lab.server.version().await.unwrap();
    applied(&lab, &config_map("a", "1")).await.unwrap();
    assert_data_eq!(
        lab.events.take_retries().join("\n"),
        str!["no answer from the API server: no data received within 30s"]
    );
    script.on("GET /version", [Reply::Silence]);
    let error = lab.server.version().await.unwrap_err();
    let after = Duration::from_secs(30);
    assert!(
        matches!(error, ApiError::Unreachable { source: NetworkError::TimedOut { after: a }, .. } if a == after)
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answered_is_asked_once() {
    let script = ScriptedServer::default();
    script.on(&patch(ONE), [Reply::Silence, Reply::json(200, &json!({}))]);
    let lab = script.lab().await;
    let error = applied(&lab, &config_map("a", "1")).await.unwrap_err();
    assert!(
        matches!(error, ApiError::Unreachable { source: NetworkError::TimedOut { .. }, .. }),
        "{error:?}"
    );
    assert!(lab.events.take_retries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_endless_answer_is_an_error() {
    let script = ScriptedServer::default();
    script.on("GET /version", [Reply::Trickle]);
    let (lab, start) = (script.lab().await, Instant::now());
    let error = lab.server.version().await.unwrap_err();
    assert!(
        matches!(error, ApiError::Unreachable { source: NetworkError::TimedOut { .. }, .. }),
        "{error:?}"
    );
    assert!(start.elapsed() <= ServerOptions::default().retry_for + Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn an_expired_page_token_restarts_the_list_once() {
    let script = ScriptedServer::default();
    let expired = Reply::status(410, "Expired", "too old");
    let list = "GET /api/v1/configmaps";
    script.on(list, [page("x", &["a"]), expired.clone(), page("y", &["b"]), page("", &["c"])]);
    let lab = script.lab().await;
    let listed = lab.server.list(&config_maps(), &ListQuery::default()).await.unwrap();
    assert_eq!(listed.iter().map(Object::name).collect::<Vec<_>>(), ["b", "c"]);
    let received: Vec<_> = script.received();
    assert_eq!(received[3], "GET /api/v1/configmaps?limit=500&continue=y");
    script.on(list, [page("x", &["a"]), expired.clone(), page("y", &["b"]), expired]);
    assert_eq!(lab.server.list(&config_maps(), &ListQuery::default()).await.unwrap_err().code(), Some(410));
}

#[tokio::test(start_paused = true)]
async fn a_page_stream_reports_restarts_and_holds_one_page() {
    let script = ScriptedServer::default();
    let replies = || {
        let expired = Reply::status(410, "Expired", "too old");
        [page("x", &["a", "b"]), expired, page("y", &["a", "c"]), page("", &["d"])]
    };
    let list = "GET /api/v1/configmaps";
    script.on(list, replies());
    let lab = script.lab().await;
    let mut pages = lab.server.pages(&config_maps(), &ListQuery::default()).with_size(2);
    let mut reported = Vec::new();
    while let Some(page) = pages.next().await.unwrap() {
        let (place, objects) = match page {
            ObjectPage::First(objects) => ("first", objects),
            ObjectPage::Next(objects) => ("next", objects),
        };
        reported.push(format!("{place}: {}", objects.iter().map(Object::name).collect::<String>()));
    }
    assert_eq!(reported, ["first: ab", "first: ac", "next: d"]);
    assert!(pages.next().await.unwrap().is_none());
    assert_eq!(script.received()[3], "GET /api/v1/configmaps?limit=2&continue=y");
    script.on(list, replies());
    let mut pages = lab.server.pages(&config_maps(), &ListQuery::default());
    let names = pages.gather(|names: &mut Vec<_>, object| names.push(object.name().to_owned())).await;
    assert_eq!(names.unwrap(), ["a", "c", "d"], "nothing is taken twice");
    script.on(list, [page("x", &["a", "b"]), page("z", &["c", "d"])]);
    let mut some =
        lab.server.pages(&config_maps(), &ListQuery { limit: Some(3), ..ListQuery::default() }).with_size(2);
    let count = some.gather(|count: &mut usize, _| *count += 1).await;
    assert_eq!(
        (count.unwrap(), script.received().len()),
        (3, 10),
        "no page is asked for beyond what is wanted"
    );
    assert_eq!(script.received()[9], "GET /api/v1/configmaps?limit=1&continue=x");
}

#[tokio::test]
async fn the_limit_of_concurrent_requests_excludes_watches() {
    let script = ScriptedServer::default();
    let listed = Reply::json(200, &json!({"metadata": {"resourceVersion": "1"}}));
    script.on("GET /api/v1/configmaps", [listed, Reply::Silence]);
    script.on(&format!("GET {ONE}"), [Reply::Silence]);
    let settings = ServerOptions { max_in_flight: 2, ..ServerOptions::default() };
    let lab = script.lab_with(settings).await;
    let kind = config_maps();
    let mut watch = lab.server.watch(&kind, &ListQuery::default());
    let mut watching = watch.next();
    let mut reading = Box::pin(join_all((0..5).map(|_| lab.server.get(&kind, "default", "a"))));
    for _ in 0..200 {
        assert!(poll!(&mut watching).is_pending() && poll!(&mut reading).is_pending());
        tokio::task::yield_now().await;
    }
    let words = |request: String| request.split('&').next().unwrap().to_owned();
    let mut received: Vec<_> = script.received().into_iter().map(words).collect();
    received.sort();
    let one = format!("GET {ONE}");
    assert_eq!(
        received,
        ["GET /api/v1/configmaps?limit=500", "GET /api/v1/configmaps?watch=true", &one, &one]
    );
}

#[tokio::test]
async fn errors_do_not_contain_secret_data() {
    let script = ScriptedServer::default();
    let path = "/api/v1/namespaces/default/secrets/s";
    let refused = json!({
        "kind": "Status", "code": 422, "reason": "Invalid", "message": "data: `hunter2` and `hunter22` are bad",
        "details": {"causes": [{"field": "data.key", "message": "hunter2 is bad"}]},
    });
    script.on(&patch(path), [Reply::json(422, &refused)]);
    let secret = object(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"},
        "stringData": {"key": "hunter2", "other": "hunter22"},
    }));
    let kind = ApiKind { kind: "Secret".into(), plural: "secrets".into(), ..config_maps() };
    let lab = script.lab().await;
    let error = lab.server.apply(&kind, &secret, MANAGER, ApplyRequest::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot apply Secret default/s: data: `***` and `***` are bad");
    let ApiError::Status { causes, .. } = error else { panic!("{error:?}") };
    assert_eq!((&*causes[0].field, &*causes[0].message), ("data.key", "*** is bad"));
}
