//! The two contracts of Cluster API and their different fields.
//!
//! Source: Cluster API v1.14 `docs/book` (contracts) and `api/*/v1beta1`, `api/*/v1beta2`.

use serde_json::{Value, json};

use super::{
    object::{self, flag, group_of, set, text},
    plan::ObjectReader,
};
use crate::controllers::ObjectRef;

/// The contract of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contract {
    /// `status.ready`, `status.conditions` with severities, references with `apiVersion`.
    V1Beta1,
    /// `status.initialization`, `metav1` conditions, references with `apiGroup`.
    V1Beta2,
}

impl Contract {
    /// The contract of a Cluster API kind, which equals its API version.
    pub(super) fn of(object: &Value) -> Self {
        if text(object, "/apiVersion").ends_with("/v1beta1") { Self::V1Beta1 } else { Self::V1Beta2 }
    }

    /// The contract of a provider kind; labels of its definition list the supported contracts.
    pub(super) fn of_definition(definition: &Value) -> Self {
        let keeps = |contract: &str| object::label(definition, contract).is_some();
        if keeps("cluster.x-k8s.io/v1beta2") || !keeps("cluster.x-k8s.io/v1beta1") {
            Self::V1Beta2
        } else {
            Self::V1Beta1
        }
    }

    /// Creates a reference to an object in the form of this contract.
    pub(super) fn reference(self, object: &Value) -> Value {
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        match self {
            Self::V1Beta1 => json!({
                "apiVersion": object["apiVersion"], "kind": kind, "name": name, "namespace": object["metadata"]["namespace"],
            }),
            Self::V1Beta2 => json!({"apiGroup": object::group(object), "kind": kind, "name": name}),
        }
    }

    /// True if the infrastructure provider has provisioned the object.
    pub(super) fn is_provisioned(self, object: &Value) -> bool {
        flag(
            object,
            if self == Self::V1Beta1 { "/status/ready" } else { "/status/initialization/provisioned" },
        )
    }

    pub(super) fn set_provisioned(self, object: &mut Value) {
        self.set_initialized(object, "ready", "provisioned");
    }

    /// Sets `status.<v1beta1>` or `status.initialization.<v1beta2>` to `true`, depending on the contract.
    pub(super) fn set_initialized(self, object: &mut Value, v1beta1: &str, v1beta2: &str) {
        match self {
            Self::V1Beta1 => set(object, &["status", v1beta1], json!(true)),
            Self::V1Beta2 => set(object, &["status", "initialization", v1beta2], json!(true)),
        }
    }

    /// True if the field of `set_initialized` is `true`.
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

/// True if the control plane of this Cluster has been initialized.
pub(super) fn has_control_plane(cluster: &Value) -> bool {
    match Contract::of(cluster) {
        Contract::V1Beta1 => super::conditions::is_true(&cluster["status"], "ControlPlaneInitialized"),
        Contract::V1Beta2 => flag(cluster, "/status/initialization/controlPlaneInitialized"),
    }
}

/// Resolves a reference in either form: `None` if the reference is empty.
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

/// Returns the object that the reference at a JSON pointer of `holder` names, in the namespace of `holder`.
pub(super) fn referenced_object(reader: &ObjectReader<'_>, holder: &Value, pointer: &str) -> Option<Value> {
    reader.get(&resolve(holder.pointer(pointer)?, object::namespace(holder))?)
}
