//! Tests of custom resources while their definition changes.

use super::*;

async fn with_widgets(properties: &Value) -> Sandbox {
    let sandbox = sandbox().await;
    assert_eq!(ask(&sandbox, "POST", DEFINITIONS, &definition(properties)).await.0, 201);
    sandbox
}

#[tokio::test]
async fn a_definition_is_served_from_creation_to_deletion() {
    let sandbox = with_widgets(&json!({})).await;
    assert_eq!(ask(&sandbox, "POST", WIDGETS, &widget("one", &json!({}))).await.0, 201);
    let path = format!("{DEFINITIONS}/widgets.example.com");
    assert_eq!(ask(&sandbox, "DELETE", &path, &Value::Null).await.0, 200);
    assert_eq!(get(&sandbox, WIDGETS).await.0, 404);
    assert_eq!(get(&sandbox, &path).await.0, 404);
}

#[tokio::test]
async fn a_watch_reports_deletions_and_ends_with_the_definition() {
    let sandbox = with_widgets(&json!({})).await;
    ask(&sandbox, "POST", WIDGETS, &widget("one", &json!({}))).await;
    let mut watch = Watch::open(&sandbox, &format!("{WIDGETS}?watch=1")).await;
    assert_eq!(watch.next().await.unwrap().unwrap()["type"], "ADDED");
    ask(&sandbox, "DELETE", &format!("{DEFINITIONS}/widgets.example.com"), &Value::Null).await;
    assert_eq!(watch.next().await.unwrap().unwrap()["type"], "DELETED");
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn a_watch_ends_if_the_schema_changes() {
    let sandbox = with_widgets(&json!({"old": {"type": "string"}})).await;
    let from = sandbox.revision();
    let path = format!("{WIDGETS}?watch=1&resourceVersion={from}");
    let mut watch = Watch::open(&sandbox, &path).await;
    let mut changed = get(&sandbox, &format!("{DEFINITIONS}/widgets.example.com")).await.1;
    changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["new"] =
        json!({"type": "string"});
    let definition = format!("{DEFINITIONS}/widgets.example.com");
    assert_eq!(ask(&sandbox, "PUT", &definition, &changed).await.0, 200);
    ask(&sandbox, "POST", WIDGETS, &widget("one", &json!({"new": "x"}))).await;
    assert_eq!(watch.next().await, None);
    let mut watch = Watch::open(&sandbox, &path).await;
    assert_eq!(watch.next().await.unwrap().unwrap()["object"]["spec"], json!({"new": "x"}));
}

#[tokio::test]
async fn a_watch_continues_if_only_definition_labels_change() {
    let sandbox = with_widgets(&json!({})).await;
    let mut watch = Watch::open(&sandbox, &format!("{WIDGETS}?watch=1")).await;
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    let path = format!("{DEFINITIONS}/widgets.example.com");
    assert_eq!(ask(&sandbox, "PATCH", &path, &labels).await.0, 200);
    ask(&sandbox, "POST", WIDGETS, &widget("one", &json!({}))).await;
    assert_eq!(watch.next().await.unwrap().unwrap()["type"], "ADDED");
}

#[tokio::test]
async fn an_undeletable_definition_is_reported_once() {
    let sandbox = with_widgets(&json!({})).await;
    let mut held = widget("one", &json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    ask(&sandbox, "POST", WIDGETS, &held).await;
    let path = format!("{DEFINITIONS}/widgets.example.com");
    assert_eq!(ask(&sandbox, "DELETE", &path, &Value::Null).await.0, 200);
    assert_eq!(get(&sandbox, WIDGETS).await.1["items"].as_array().unwrap().len(), 1);
    // After the deletion of the last object, nothing is written any more.
    let store = sandbox.store();
    let name = crate::store::ResourceName { group: "example.com".into(), plural: "widgets".into() };
    let scope = crate::store::Scope { resource: name, namespace: None };
    let page = store.list(&scope, crate::store::ListOptions::default()).unwrap();
    let kinds = sandbox.server.kinds();
    let resource = kinds.find("example.com", "v1", "widgets").unwrap();
    for item in page.items {
        let last = crate::verbs::object::read(resource, &item);
        let pending = crate::verbs::object::EncodedObject::new(resource, &last).unwrap();
        store.delete(&item.key, item.revision, |at| pending.with_revision(at)).unwrap();
    }
    store.release();
    let status =
        crate::verbs::definitions::process_definition(&sandbox.server, "widgets.example.com").unwrap_err();
    assert_eq!((status.code, &*status.reason), (500, "InternalError"));
}
