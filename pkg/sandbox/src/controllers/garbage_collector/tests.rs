use serde_json::{Value, json};

use crate::{
    ControllerSwitches, Options, Sandbox, client::Client, controllers::ObjectRef,
    request::options::PropagationPolicy,
};

/// A sandbox with only the garbage collector and a custom kind `Widget`.
async fn sandbox() -> (Sandbox, Client) {
    let controllers = ControllerSwitches { garbage_collection: true, ..ControllerSwitches::none() };
    let sandbox = Sandbox::start(Options { controllers, ..Options::default() }).await.unwrap();
    let client = sandbox.client("test");
    client
        .create(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }],
            },
        }))
        .await
        .unwrap();
    (sandbox, client)
}

fn place(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectRef {
    let owned = str::to_owned;
    ObjectRef { group: owned(group), kind: owned(kind), namespace: owned(namespace), name: owned(name) }
}

fn config_map(name: &str, owner: &Value) -> Value {
    let owner = json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "blockOwnerDeletion": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    });
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]},
    })
}

fn widget(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": "default"}})
}

#[tokio::test]
async fn deleting_a_definition_deletes_dependents_of_its_objects() {
    let (sandbox, client) = sandbox().await;
    let owner = client.create(widget("one")).await.unwrap();
    client.create(config_map("dependent", &owner)).await.unwrap();
    sandbox.wait_until_idle().await;
    let definition = place("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com");
    client.delete(&definition, PropagationPolicy::Background).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(client.get(&definition), None);
    assert_eq!(client.get(&place("", "ConfigMap", "default", "dependent")), None);
}

#[tokio::test]
async fn an_object_with_an_owner_of_an_unserved_kind_is_kept() {
    let (sandbox, client) = sandbox().await;
    let owner = json!({
        "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "one", "uid": "1"},
    });
    client.create(config_map("dependent", &owner)).await.unwrap();
    sandbox.wait_until_idle().await;
    assert!(client.get(&place("", "ConfigMap", "default", "dependent")).is_some());
}

#[tokio::test]
async fn a_waiting_owner_is_deleted_once_its_dependent_drops_it() {
    let (sandbox, client) = sandbox().await;
    let owner = client.create(widget("one")).await.unwrap();
    let mut dependent = config_map("dependent", &owner);
    dependent["metadata"]["finalizers"] = json!(["example.com/hold"]);
    client.create(dependent).await.unwrap();
    sandbox.wait_until_idle().await;
    let owner = place("example.com", "Widget", "default", "one");
    client.delete(&owner, PropagationPolicy::Foreground).await.unwrap();
    sandbox.wait_until_idle().await;
    let mut dependent = client.get(&place("", "ConfigMap", "default", "dependent")).unwrap();
    assert!(dependent["metadata"]["deletionTimestamp"].is_string());
    assert!(client.get(&owner).is_some());
    dependent["metadata"]["ownerReferences"] = json!([]);
    client.update(dependent).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(client.get(&owner), None);
    assert!(client.get(&place("", "ConfigMap", "default", "dependent")).is_some());
}
