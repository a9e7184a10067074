//! The two contracts between the parts of Cluster API, and what is spelled differently under them.
//!
//! Source: Cluster API v1.14 `docs/book` (contracts) and `api/*/v1beta1`, `api/*/v1beta2`.

use serde_json::{Value, json};

use super::{
    object::{self, flag, group_of, set, text},
    world::World,
};
use crate::controllers::ObjectRef;

/// Which form the fields of an object have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contract {
    /// `status.ready`, `status.conditions` with severities, references with `apiVersion`.
    V1Beta1,
    /// `status.initialization`, conditions of `metav1`, references with `apiGroup`.
    V1Beta2,
}

impl Contract {
    /// Of a kind of Cluster API itself: there the version of the API is the version of the contract.
    pub(super) fn of(object: &Value) -> Self {
        if text(object, "/apiVersion").ends_with("/v1beta1") { Self::V1Beta1 } else { Self::V1Beta2 }
    }

    /// Of a provider's kind: its definition is labelled with the contracts it keeps.
    pub(super) fn of_definition(definition: &Value) -> Self {
        let keeps = |contract: &str| object::label(definition, contract).is_some();
        if keeps("cluster.x-k8s.io/v1beta2") || !keeps("cluster.x-k8s.io/v1beta1") {
            Self::V1Beta2
        } else {
            Self::V1Beta1
        }
    }

    /// A reference to an object as objects of this contract write it.
    pub(super) fn reference(self, object: &Value) -> Value {
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        match self {
            Self::V1Beta1 => json!({
                "apiVersion": object["apiVersion"], "kind": kind, "name": name, "namespace": object["metadata"]["namespace"],
            }),
            Self::V1Beta2 => json!({"apiGroup": object::group(object), "kind": kind, "name": name}),
        }
    }

    /// Whether an infrastructure provider says that it has made what the object stands for.
    pub(super) fn is_provisioned(self, object: &Value) -> bool {
        flag(
            object,
            if self == Self::V1Beta1 { "/status/ready" } else { "/status/initialization/provisioned" },
        )
    }

    pub(super) fn set_provisioned(self, object: &mut Value) {
        self.set_initialized(object, "ready", "provisioned");
    }

    /// Puts a `true` in the status: in the first field under v1beta1, in the second of `initialization` otherwise.
    pub(super) fn set_initialized(self, object: &mut Value, v1beta1: &str, v1beta2: &str) {
        match self {
            Self::V1Beta1 => set(object, &["status", v1beta1], json!(true)),
            Self::V1Beta2 => set(object, &["status", "initialization", v1beta2], json!(true)),
        }
    }

    /// Whether `set_initialized` has been here.
    pub(super) fn is_initialized(self, object: &Value, v1beta1: &str, v1beta2: &str) -> bool {
        match self {
            Self::V1Beta1 => flag(&object["status"], &format!("/{v1beta1}")),
            Self::V1Beta2 => flag(&object["status"]["initialization"], &format!("/{v1beta2}")),
        }
    }
}

pub(super) fn has_infrastructure(cluster: &Value) -> bool {
    Contract::of(cluster).is_initialized(cluster, "infrastructureReady", "infrastructureProvisioned")
}

/// The control plane of this Cluster has answered once.
pub(super) fn has_control_plane(cluster: &Value) -> bool {
    match Contract::of(cluster) {
        Contract::V1Beta1 => {
            super::conditions::is_true(&cluster["status"]["conditions"], "ControlPlaneInitialized")
        }
        Contract::V1Beta2 => flag(cluster, "/status/initialization/controlPlaneInitialized"),
    }
}

/// What a reference in either form means; nothing when it is empty.
pub(super) fn resolve(reference: &Value, namespace: &str) -> Option<ObjectRef> {
    let (kind, name) = (text(reference, "/kind"), text(reference, "/name"));
    if kind.is_empty() || name.is_empty() {
        return None;
    }
    let group = match text(reference, "/apiGroup") {
        "" => group_of(text(reference, "/apiVersion")),
        group => group,
    };
    Some(ObjectRef::new(group, kind, namespace, name))
}

/// The object a reference at a JSON pointer of `holder` means, in the holder's namespace.
pub(super) fn referred(world: &World<'_>, holder: &Value, pointer: &str) -> Option<Value> {
    world.get(&resolve(holder.pointer(pointer)?, object::namespace(holder))?)
}
