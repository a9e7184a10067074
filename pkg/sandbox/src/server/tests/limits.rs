//! Tests of excessive or unusual requests.

use super::*;

#[tokio::test]
async fn many_unknown_fields_fit_into_the_warnings() {
    let sandbox = sandbox().await;
    let mut map = config_map("one");
    for number in 0..40_000 {
        map[format!("field{number}")] = 1.into();
    }
    let response = send(&sandbox, "POST", CONFIG_MAPS, map.to_string()).await.unwrap();
    assert_eq!(response.status(), 201);
    assert!(response.headers().get_all("warning").iter().count() > 100);
}

#[tokio::test]
async fn a_repeated_field_gives_few_warnings() {
    let sandbox = sandbox().await;
    let fields: Vec<_> = (0..100_000).map(|number| format!(",\"f{}\":\"c\"", number / 2)).collect();
    let text = format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"one\"}},\"data\":{{\"a\":\"b\"{}}}}}",
        fields.concat()
    );
    let path = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let response = send(&sandbox, "POST", &path, text).await.unwrap();
    assert_eq!(response.status(), 400);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(String::from_utf8_lossy(&body).matches("duplicate field").count(), 100);
}

#[tokio::test]
async fn deleting_with_the_largest_generation_does_not_overflow() {
    let sandbox = sandbox().await;
    let mut map = config_map("one");
    map["metadata"]["generation"] = i64::MAX.into();
    map["metadata"]["finalizers"] = json!(["example.com/hold"]);
    assert_eq!(ask(&sandbox, "POST", CONFIG_MAPS, &map).await.0, 201);
    let (code, left) = ask(&sandbox, "DELETE", &format!("{CONFIG_MAPS}/one"), &Value::Null).await;
    assert_eq!(code, 200);
    assert!(left["metadata"]["deletionTimestamp"].is_string());
}

#[tokio::test]
async fn a_body_over_the_size_or_depth_limit_is_refused() {
    let sandbox = sandbox().await;
    let long = send(&sandbox, "POST", CONFIG_MAPS, vec![b' '; 4 << 20]).await.unwrap();
    assert_eq!(long.status(), 413);
    let deep = send(&sandbox, "POST", CONFIG_MAPS, "[".repeat(100_000)).await.unwrap();
    assert_eq!(deep.status(), 400);
}

#[tokio::test]
async fn a_watch_before_the_history_is_expired() {
    let sandbox = start(Options { history_limit: 2, ..Options::default() }).await;
    for name in ["one", "two", "three", "four"] {
        ask(&sandbox, "POST", CONFIG_MAPS, &config_map(name)).await;
    }
    let mut watch = Watch::open(&sandbox, &format!("{CONFIG_MAPS}?watch=1&resourceVersion=1")).await;
    let event = watch.next().await.unwrap().unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn non_resource_paths_accept_most_methods() {
    let sandbox = sandbox().await;
    for (path, code) in [
        ("/foo", 404),
        ("/version", 405),
        ("/api", 405),
        ("/api/v1", 405),
        ("/apis", 200),
        ("/apis/apps", 200),
        ("/apis/apps/v1", 405),
        ("/apis/apps/v9", 404),
        ("/apis/none.io/v1", 404),
        ("/healthz", 200),
        ("/openapi/v3", 200),
    ] {
        for method in ["POST", "DELETE", "HEAD"] {
            let answer = send(&sandbox, method, path, "").await.unwrap();
            assert_eq!(answer.status(), code, "{method} {path}");
        }
    }
    assert_eq!(send(&sandbox, "HEAD", "/api/v1/namespaces", "").await.unwrap().status(), 405);
}
