//! Validation of built-in kinds.
//!
//! Source: the `validation.go` files of kube-apiserver 1.36, with their order and messages. Deliberately absent: rules
//! for values that nobody writes by hand, and kinds that no provider ships. Only workloads have a validated status.

mod config;
mod extension;
mod pod;
mod rbac;
mod selector;
mod service;
mod workload;

use serde_json::Value;

pub(crate) use self::extension::{client_config, review_versions};
use super::field_path::{FieldPath, entries};
use crate::{
    kinds::ResourceType,
    status::{FieldError, FieldErrors},
};

/// Returns all validation errors of an object; `old` is the stored object at an update of the object itself.
pub(super) fn validate(resource: &ResourceType, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let to = &mut faults;
    match (&*resource.group, &*resource.plural) {
        ("", "configmaps") => config::config_map(object, old, to),
        ("", "pods") => pod::pod(object, old, to),
        ("", "secrets") => config::secret(object, old, to),
        ("", "services") => service::service(object, old, to),
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations" | "validatingwebhookconfigurations",
        ) => {
            extension::webhooks(object, to);
        }
        ("apiregistration.k8s.io", "apiservices") => extension::api_service(object, to),
        ("apps", "deployments") => workload::deployment(object, old, to),
        ("apps", "replicasets") => workload::replica_set(object, old, to),
        ("batch", "jobs") => workload::job(object, old, to),
        ("coordination.k8s.io", "leases") => config::lease(object, to),
        ("rbac.authorization.k8s.io", "clusterrolebindings") => rbac::binding(object, old, true, to),
        ("rbac.authorization.k8s.io", "clusterroles") => rbac::role(object, true, to),
        ("rbac.authorization.k8s.io", "rolebindings") => rbac::binding(object, old, false, to),
        ("rbac.authorization.k8s.io", "roles") => rbac::role(object, false, to),
        _ => {}
    }
    faults
}

const STATUS: FieldPath<'static> = FieldPath::Root("status");

/// Returns the validation errors of a changed status in the group `apps`.
pub(super) fn workload_status(plural: &str, status: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let number = |status: &Value, field: &str| status[field].as_i64().unwrap_or_default();
    for (field, value) in entries(status).filter(|(_, value)| value.is_number()) {
        errors.non_negative(STATUS.field(field), value);
    }
    let parts: &[&str] = match plural {
        "deployments" => &["updatedReplicas", "readyReplicas", "availableReplicas"],
        "replicasets" => &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        "statefulsets" => &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
        _ => &[],
    };
    for field in parts {
        if number(status, field) > number(status, "replicas") {
            errors.invalid(
                STATUS.field(field),
                number(status, field),
                "cannot be greater than status.replicas",
            );
        }
    }
    let available = number(status, "availableReplicas");
    if available > number(status, "readyReplicas") {
        let prefix = if plural == "statefulsets" { "status." } else { "" };
        let detail = format!("cannot be greater than {prefix}readyReplicas");
        errors.invalid(STATUS.field("availableReplicas"), available, detail);
    }
    let collisions = number(status, "collisionCount");
    if collisions < number(old, "collisionCount") {
        errors.invalid(STATUS.field("collisionCount"), collisions, "cannot be decremented");
    }
    errors
}
