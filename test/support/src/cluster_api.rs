//! Cluster API objects as the controllers leave them, without the controllers: whole owner chains, and definitions of
//! their kinds. They are the real kinds of Cluster API v1.14: core, kubeadm, docker.
//!
//! Source for owner references and finalizers: `test/framework/ownerreference_helpers.go` and `finalizers_helpers.go`
//! there, which assert them on real clusters.

mod cluster;
mod definitions;
mod object;
mod outline;
mod roots;

use serde_json::{Value, json};

pub(crate) use self::object::Owner;
pub use self::{
    cluster::{ClusterBuilder, Infrastructure, cluster},
    definitions::{define, definition, install, objects_in, wait_until_served},
    object::{Object, object},
    outline::outline,
    roots::{cluster_class, provider, resource_set},
};
use crate::kind::Kind;

/// The Kubernetes version of everything.
const VERSION: &str = "v1.36.0";
/// When everything came to be what it is.
const TIME: &str = "2026-01-02T03:04:05Z";

/// `namespace/name`.
fn beside(place: &str, name: &str) -> String {
    format!("{}/{name}", split(place).0)
}

/// Namespace and name; no namespace for what is of the whole cluster.
pub(crate) fn split(place: &str) -> (&str, &str) {
    place.rsplit_once('/').unwrap_or(("", place))
}

/// What is to be said of how machines become nodes; it may not be nothing.
fn kubeadm() -> Value {
    json!({"format": "cloud-config"})
}

/// A reference as contract v1beta2 has them: without a version.
fn reference(kind: Kind, name: &str) -> Value {
    json!({"apiGroup": kind.group, "kind": kind.kind, "name": name})
}

/// These conditions hold. `Paused` is left out: there may be no controller that would change it.
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
