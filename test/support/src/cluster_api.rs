//! Cluster API objects in the state that controllers leave them in, without running controllers. Includes complete
//! owner chains and the definitions of the kinds, which are those of Cluster API v1.14: core, kubeadm, docker.
//!
//! Source for owner references and finalizers: `test/framework/ownerreference_helpers.go` and `finalizers_helpers.go`
//! of Cluster API, which assert them on real clusters.

mod cluster;
mod definitions;
mod object;
mod outline;
mod roots;

use serde_json::{Value, json};

pub(crate) use self::object::Owner;
pub use self::{
    cluster::{ClusterBuilder, Infrastructure, cluster},
    definitions::{definition, install, install_on, objects_in, wait_until_served},
    object::{Object, object},
    outline::outline,
    roots::{cluster_class, provider, resource_set},
};
use crate::kind::Kind;

/// The Kubernetes version of all objects.
const VERSION: &str = "v1.36.0";
/// The timestamp of all conditions.
const TIME: &str = "2026-01-02T03:04:05Z";

/// An object in the same namespace, as `namespace/name`.
fn in_same_namespace(namespaced_name: &str, name: &str) -> String {
    format!("{}/{name}", split_namespaced_name(namespaced_name).0)
}

/// Splits into namespace and name. The namespace is empty for cluster-scoped objects.
pub(crate) fn split_namespaced_name(namespaced_name: &str) -> (&str, &str) {
    namespaced_name.rsplit_once('/').unwrap_or(("", namespaced_name))
}

/// The smallest valid kubeadm configuration. It must not be empty.
fn kubeadm() -> Value {
    json!({"format": "cloud-config"})
}

/// A reference in the form of contract v1beta2, without a version.
fn reference(kind: Kind, name: &str) -> Value {
    json!({"apiGroup": kind.group, "kind": kind.kind, "name": name})
}

/// Conditions with status true. `Paused` is excluded, because there may be no controller to change it.
fn conditions(kinds: &[&str]) -> Value {
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind,
            "status": status,
            "reason": reason,
            "message": "",
            "lastTransitionTime": TIME,
        })
    };
    kinds.iter().map(|kind| condition(kind, "True", kind)).collect()
}

#[cfg(test)]
mod tests;
