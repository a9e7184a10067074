//! Tests of the state that a data directory restores.

use super::*;
use crate::ServiceWebhooks;

const WEBHOOKS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

fn options(folder: &tempfile::TempDir) -> Options {
    Options {
        data_dir: Some(folder.path().join("data")),
        service_webhooks: ServiceWebhooks::Refuse,
        ..Options::default()
    }
}

fn webhook(resource: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "strict"},
        "webhooks": [{
            "name": "strict.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "default", "name": "nobody"}},
            "rules": [{
                "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": [resource],
            }],
        }],
    })
}

#[tokio::test]
async fn definitions_objects_and_webhooks_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (revision, before) = {
        let sandbox = start(options(&folder)).await;
        ask(&sandbox, "POST", DEFINITIONS, &definition(&json!({"size": {"type": "integer"}}))).await;
        ask(&sandbox, "POST", WIDGETS, &widget("one", &json!({"size": 3}))).await;
        assert_eq!(ask(&sandbox, "POST", WEBHOOKS, &webhook("configmaps")).await.0, 201);
        let before = get(&sandbox, &format!("{WIDGETS}/one")).await;
        sandbox.stop().await;
        (sandbox.revision(), before)
    };
    let sandbox = start(options(&folder)).await;
    assert_eq!(sandbox.revision(), revision);
    assert_eq!(before.0, 200);
    assert_eq!(get(&sandbox, &format!("{WIDGETS}/one")).await, before);
    let (code, status) = ask(&sandbox, "POST", CONFIG_MAPS, &config_map("one")).await;
    assert_eq!(code, 500, "{status}");
    assert!(status["message"].as_str().unwrap().contains("strict.example.com"), "{status}");
}

#[tokio::test]
async fn an_unreachable_webhook_does_not_block_a_start() {
    let folder = tempfile::tempdir().unwrap();
    {
        let sandbox = start(options(&folder)).await;
        // The next start creates the object again.
        ask(
            &sandbox,
            "DELETE",
            "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
            &Value::Null,
        )
        .await;
        assert_eq!(ask(&sandbox, "POST", WEBHOOKS, &webhook("*")).await.0, 201);
    }
    let sandbox = start(options(&folder)).await;
    let path = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
    assert_eq!(get(&sandbox, path).await.0, 200);
}

#[tokio::test]
async fn an_unsettled_definition_is_served_after_a_restart() {
    use crate::{
        store::{Key, Precondition, ResourceName},
        verbs::object::EncodedObject,
    };
    let folder = tempfile::tempdir().unwrap();
    {
        let sandbox = start(options(&folder)).await;
        let mut raw = definition(&json!({}));
        let metadata = json!({
            "name": "widgets.example.com", "uid": "1", "generation": 1, "creationTimestamp": "2026-01-02T03:04:05Z",
        });
        raw["metadata"] = metadata;
        raw["spec"]["names"] =
            json!({"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"});
        raw["spec"]["conversion"] = json!({"strategy": "None"});
        let kinds = sandbox.server.kinds();
        let resource = kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions").unwrap();
        let name = ResourceName { group: "apiextensions.k8s.io".into(), plural: resource.plural.clone() };
        let key = Key { resource: name, namespace: "".into(), name: "widgets.example.com".into() };
        let pending = EncodedObject::new(resource, &raw).unwrap();
        sandbox.store().commit_with(&key, Precondition::Absent, |at| pending.with_revision(at)).unwrap();
        assert_eq!(get(&sandbox, WIDGETS).await.0, 404);
    }
    let sandbox = start(options(&folder)).await;
    assert_eq!(get(&sandbox, WIDGETS).await.0, 200);
}
