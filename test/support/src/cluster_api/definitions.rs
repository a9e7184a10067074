//! Definitions of the kinds. Names, versions and labels are the real ones; the schema accepts everything.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use super::{Object, object};
use crate::{
    fixture::{Fixture, create, is_served, list},
    kind::{self, Kind},
};

const TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// All kinds that the builders create, in output order.
pub(super) const KINDS: [Kind; 17] = [
    kind::CLUSTER_CLASS,
    kind::CLUSTER,
    kind::CLUSTER_RESOURCE_SET,
    kind::CLUSTER_RESOURCE_SET_BINDING,
    kind::KUBEADM_CONTROL_PLANE,
    kind::KUBEADM_CONTROL_PLANE_TEMPLATE,
    kind::MACHINE_DEPLOYMENT,
    kind::MACHINE_SET,
    kind::MACHINE,
    kind::KUBEADM_CONFIG,
    kind::KUBEADM_CONFIG_TEMPLATE,
    kind::DOCKER_CLUSTER,
    kind::DOCKER_CLUSTER_TEMPLATE,
    kind::DOCKER_MACHINE,
    kind::DOCKER_MACHINE_TEMPLATE,
    kind::AWS_CLUSTER_STATIC_IDENTITY,
    kind::PROVIDER,
];

/// Creates the definitions of all kinds that the builders create.
pub async fn install(lab: &Fixture) {
    lab.create(definitions()).await;
}

/// Creates the definitions on any server, and waits until the server serves them.
///
/// # Panics
/// Panics if a kind is not served after a minute.
pub async fn install_on(client: &kube::Client) {
    create(client, definitions()).await;
    wait_until_served(client, KINDS).await;
}

/// Waits until objects of all these kinds can be listed.
///
/// # Panics
/// Panics if a kind is not served after a minute.
pub async fn wait_until_served(client: &kube::Client, kinds: impl IntoIterator<Item = Kind>) {
    let served = async {
        for kind in kinds {
            while !is_served(client, kind).await {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    };
    assert!(tokio::time::timeout(TIMEOUT, served).await.is_ok(), "a definition is not served");
}

fn definitions() -> [Object; 17] {
    KINDS.map(definition)
}

/// All objects in a namespace by kind and name: the kinds of the builders, Secrets and ConfigMaps. Default objects of
/// every namespace are excluded.
///
/// # Panics
/// Panics if the server does not respond.
pub async fn objects_in(client: &kube::Client, namespace: &str) -> BTreeMap<String, Value> {
    let mut objects = BTreeMap::new();
    let kinds = KINDS.iter().chain(&[kind::CONFIG_MAP, kind::SECRET]).filter(|kind| kind.namespaced);
    for kind in kinds {
        for object in list(client, *kind, namespace).await {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if name != "kube-root-ca.crt" {
                objects.insert(format!("{} {name}", kind.kind), object);
            }
        }
    }
    objects
}

/// The definition of a kind, with the labels required by clusterctl and the contracts.
pub fn definition(kind: Kind) -> Object {
    let version = json!({
        "name": kind.version,
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        "subresources": if has_status(kind) { json!({"status": {}}) } else { json!({}) },
    });
    let spec = json!({
        "group": kind.group,
        "names": {"kind": kind.kind, "plural": kind.plural, "categories": ["cluster-api"]},
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "versions": [version],
    });
    let definition = object(kind::CUSTOM_RESOURCE_DEFINITION, &format!("{}.{}", kind.plural, kind.group));
    labels(kind).iter().fold(definition.field("spec", spec), |object, (key, value)| object.label(key, value))
}

/// The labels of a definition. Source: the components of the providers, Cluster API v1.14 and its provider for AWS
/// v2.11.
fn labels(kind: Kind) -> Vec<(&'static str, &'static str)> {
    let provider = match kind.group.split('.').next() {
        Some("bootstrap") => "bootstrap-kubeadm",
        Some("controlplane") => "control-plane-kubeadm",
        Some("infrastructure") if kind == kind::AWS_CLUSTER_STATIC_IDENTITY => "infrastructure-aws",
        Some("infrastructure") => "infrastructure-docker",
        Some("clusterctl") => return vec![("clusterctl.cluster.x-k8s.io/core", "inventory")],
        _ => "cluster-api",
    };
    let mut labels = vec![("clusterctl.cluster.x-k8s.io", ""), ("cluster.x-k8s.io/provider", provider)];
    if provider != "cluster-api" {
        labels.extend([("cluster.x-k8s.io/v1beta1", "v1beta1"), ("cluster.x-k8s.io/v1beta2", "v1beta2")]);
    }
    if kind == kind::AWS_CLUSTER_STATIC_IDENTITY {
        labels.push(("clusterctl.cluster.x-k8s.io/move-hierarchy", ""));
    }
    labels
}

/// True if a kind has a status. Source: the same components. A template of machines reports machine capacity there.
fn has_status(kind: Kind) -> bool {
    let is_template = kind.kind.ends_with("Template") && kind != kind::DOCKER_MACHINE_TEMPLATE;
    !is_template && ![kind::CLUSTER_RESOURCE_SET_BINDING, kind::PROVIDER].contains(&kind)
}
