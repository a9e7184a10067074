use serde_json::json;

use super::*;
use crate::{ControllerSwitches, Options, Sandbox};

async fn sandbox() -> Sandbox {
    let controllers = ControllerSwitches {
        garbage_collection: false,
        workloads: false,
        cert_manager: false,
        cluster_api: false,
        api_services: true,
    };
    let sandbox = Sandbox::start(Options { controllers, ..Options::default() }).await.unwrap();
    sandbox.wait_until_idle().await;
    sandbox
}

fn definition(plural: &str, versions: &[(&str, bool)]) -> Value {
    let versions: Vec<_> = versions
        .iter()
        .enumerate()
        .map(|(index, (name, served))| {
            let schema = json!({"openAPIV3Schema": {"type": "object"}});
            json!({"name": name, "served": served, "storage": index == 0, "schema": schema})
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "versions": versions,
            "names": {"plural": plural, "kind": plural.to_uppercase()},
        },
    })
}

fn custom(client: &Client) -> Vec<String> {
    let all = client.list(GROUP, "APIService", None);
    all.iter().map(meta::name).filter(|name| name.contains("example")).map(str::to_owned).collect()
}

fn available(client: &Client, name: &str) -> Value {
    let service = client.get(&reference(name)).unwrap();
    let condition = &service["status"]["conditions"][0];
    json!([condition["type"], condition["status"], condition["reason"]])
}

#[tokio::test]
async fn every_served_custom_version_has_an_api_service() {
    let sandbox = sandbox().await;
    let client = sandbox.client("test");
    let one = client.create(definition("ones", &[("v1", true), ("v1alpha1", false)])).await.unwrap();
    let two = client.create(definition("twos", &[("v1", true), ("v2", true)])).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(custom(&client), ["v1.example.com", "v2.example.com"]);
    assert_eq!(available(&client, "v2.example.com"), json!(["Available", "True", "Local"]));

    let place = |object: &Value| ObjectRef {
        group: DEFINITION_GROUP.to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        namespace: String::new(),
        name: meta::name(object).to_owned(),
    };
    client.delete(&place(&two), PropagationPolicy::Background).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(custom(&client), ["v1.example.com"]);
    client.delete(&place(&one), PropagationPolicy::Background).await.unwrap();
    sandbox.wait_until_idle().await;
    assert!(custom(&client).is_empty());
}

#[tokio::test]
async fn edited_or_deleted_api_services_are_restored() {
    let sandbox = sandbox().await;
    let client = sandbox.client("test");
    client.create(definition("ones", &[("v1", true)])).await.unwrap();
    sandbox.wait_until_idle().await;
    let mut service = client.get(&reference("v1.example.com")).unwrap();
    service["spec"]["versionPriority"] = json!(7);
    client.update(service).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(client.get(&reference("v1.example.com")).unwrap()["spec"]["versionPriority"], 100);
    client.delete(&reference("v1.example.com"), PropagationPolicy::Background).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(custom(&client), ["v1.example.com"]);
}

#[tokio::test]
async fn api_services_become_available_once() {
    let sandbox = sandbox().await;
    let client = sandbox.client("test");
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.metrics.example"},
        "spec": {
            "group": "metrics.example", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": "metrics", "namespace": "default"},
        },
    });
    client.create(service).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(available(&client, "v1.apps"), json!(["Available", "True", "Local"]));
    assert_eq!(available(&client, "v1.metrics.example"), json!(["Available", "True", "Passed"]));

    let revision = sandbox.revision();
    let mut service = client.get(&reference("v1.metrics.example")).unwrap();
    service["metadata"]["labels"] = json!({"touched": "yes"});
    client.update(service).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(sandbox.revision(), revision + 1, "only the touch itself was written");
}
