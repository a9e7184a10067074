//! The requests of a first installation by clusterctl: POSTs every object with clusterctl as the field manager.

use kube::Client;
use serde_json::{Value, json};
use support::object_snapshot::client_from_kubeconfig;

use super::Management;
use crate::project;

const PROVIDERS: [(&str, &str, &str, &str); 4] = [
    ("--core", "cluster-api", "CoreProvider", "cluster-api"),
    ("-b", "kubeadm", "BootstrapProvider", "bootstrap-kubeadm"),
    ("-c", "kubeadm", "ControlPlaneProvider", "control-plane-kubeadm"),
    ("-i", "sandbox", "InfrastructureProvider", "infrastructure-sandbox"),
];

pub(super) async fn first_installation(cluster: &Management) {
    let client = client_from_kubeconfig(cluster.kubeconfig()).await;
    post(&client, &inventory()).await;
    for mut object in cert_manager() {
        object["metadata"]["labels"]["clusterctl.cluster.x-k8s.io"] = json!("");
        object["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/core"] = json!("cert-manager");
        object["metadata"]["annotations"]["cert-manager.clusterctl.cluster.x-k8s.io/version"] =
            json!("v1.0.0");
        post(&client, &object).await;
    }
    for (flag, name, provider_type, label) in PROVIDERS {
        let reference = format!("{name}:v1.0.0");
        let run = cluster.world.run(["generate", "provider", flag, &reference]);
        assert_eq!(run.status, 0, "{run}");
        let objects =
            manifest::read_stream(run.stdout.as_bytes(), &manifest::YamlLimits::default()).unwrap().objects;
        let namespace = objects.iter().find(|object| object.kind() == "Namespace").unwrap().name().to_owned();
        for object in objects {
            post(&client, &object.into_value()).await;
        }
        let labels = json!({"cluster.x-k8s.io/provider": label, "clusterctl.cluster.x-k8s.io": "",
            "clusterctl.cluster.x-k8s.io/core": "inventory"});
        let entry = json!({"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider",
            "metadata": {"name": label, "namespace": namespace, "labels": labels},
            "providerName": name, "type": provider_type, "version": "v1.0.0"});
        post(&client, &entry).await;
    }
}

fn cert_manager() -> Vec<Value> {
    let file =
        std::fs::read(project("e2e/fixtures/repository/cert-manager/v1.0.0/cert-manager.yaml")).unwrap();
    let stream = manifest::read_stream(&file, &manifest::YamlLimits::default()).unwrap();
    stream.objects.into_iter().map(manifest::Object::into_value).collect()
}

/// The part of the definition that the entries need.
fn inventory() -> Value {
    let text = json!({"type": "string"});
    let fields = json!({"providerName": text, "type": text, "version": text, "watchedNamespace": text});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "providers.clusterctl.cluster.x-k8s.io",
            "labels": {"clusterctl.cluster.x-k8s.io/core": "inventory"}},
        "spec": {"group": "clusterctl.cluster.x-k8s.io", "scope": "Namespaced",
            "names": {"kind": "Provider", "listKind": "ProviderList", "plural": "providers", "singular": "provider"},
            "versions": [{"name": "v1alpha3", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": fields}}}]}})
}

/// Creates an object. The lookup of its path waits until a new kind is served.
async fn post(client: &Client, object: &Value) {
    let path = path_of(client, object).await;
    let uri = format!("{path}?fieldManager=clusterctl");
    let body = serde_json::to_vec(object).unwrap();
    let request = http::Request::post(uri).header("content-type", "application/json").body(body).unwrap();
    client.request::<Value>(request).await.unwrap_or_else(|error| panic!("{object}: {error}"));
}

async fn path_of(client: &Client, object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap();
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    for _ in 0..100 {
        let request = http::Request::get(&root).body(Vec::new()).unwrap();
        if let Ok(kinds) = client.request::<Value>(request).await {
            let of_kind = |kind: &&Value| {
                kind["kind"] == object["kind"] && !kind["name"].as_str().unwrap().contains('/')
            };
            if let Some(kind) = kinds["resources"].as_array().unwrap().iter().find(of_kind) {
                let plural = kind["name"].as_str().unwrap();
                return match object["metadata"]["namespace"].as_str() {
                    Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
                    None => format!("{root}/{plural}"),
                };
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{version} {} is not served", object["kind"])
}
