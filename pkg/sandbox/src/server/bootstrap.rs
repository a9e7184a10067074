//! Initial objects of every cluster.

use manifest::{Object, YamlLimits};
use serde_json::{Value, json};

use crate::{client::Client, controllers::ObjectRef, discovery, meta, status::Status};

/// Creates missing initial objects: namespaces, the Service of the server, roles, priority classes.
pub(super) async fn bootstrap(client: &Client) -> Result<(), Status> {
    for object in objects() {
        if client.get(&ObjectRef::of(&object)).is_none() {
            client.create(object).await?;
        }
    }
    Ok(())
}

fn objects() -> Vec<Value> {
    let stream = manifest::read_stream(include_bytes!("bootstrap.yaml"), &YamlLimits::default());
    let objects = stream.expect("the file is valid: every start reads it").objects;
    let objects = objects.into_iter().map(Object::into_value);
    let (namespaces, others): (Vec<_>, Vec<_>) = objects.partition(|object| object["kind"] == "Namespace");
    let contents: Vec<_> =
        namespaces.iter().flat_map(|namespace| namespace_content(meta::name(namespace))).collect();
    [namespaces, contents, others, api_services()].concat()
}

/// Returns the initial objects of a namespace: the service account of its pods, and their CA bundle. The bundle is
/// empty: pods have nothing to verify.
pub(crate) fn namespace_content(namespace: &str) -> [Value; 2] {
    [
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace},
        }),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "kube-root-ca.crt", "namespace": namespace,
                "annotations": {"kubernetes.io/description": "Contains a CA bundle that can be used to verify the \
                    kube-apiserver when using internal endpoints such as the internal service IP or \
                    kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."},
            },
            "data": {"ca.crt": ""},
        }),
    ]
}

/// Returns APIServices for the groups and versions that this server serves itself.
fn api_services() -> Vec<Value> {
    let mut resources = discovery::discovery_order(Vec::new());
    // A server of this group does not aggregate itself.
    resources.retain(|resource| &*resource.group != "apiregistration.k8s.io");
    resources.dedup_by(|a, b| (&a.group, &a.version) == (&b.group, &b.version));
    resources.iter().map(|resource| api_service(&resource.group, &resource.version, "onstart")).collect()
}

/// Returns the APIService of a group and version that this server serves itself. `managed` is `onstart`, or `true` for
/// custom resources.
pub(crate) fn api_service(group: &str, version: &str, managed: &str) -> Value {
    let mut spec = json!({"version": version, "groupPriorityMinimum": 17_800, "versionPriority": 15});
    if managed == "true" {
        spec["groupPriorityMinimum"] = 1000.into();
        spec["versionPriority"] = 100.into();
    }
    if group.is_empty() {
        (spec["groupPriorityMinimum"], spec["versionPriority"]) = (18_000.into(), 1.into());
    } else {
        spec["group"] = group.into();
    }
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {
            "name": format!("{version}.{group}"),
            "labels": {"kube-aggregator.kubernetes.io/automanaged": managed},
        },
        "spec": spec,
    })
}
