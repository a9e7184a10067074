//! Validation of the status of workloads, the only built-in kinds with a validated status.
//!
//! Source: the `Validate…StatusUpdate` functions of kube-apiserver 1.36.

use serde_json::Value;

use super::error_list::{ErrorList, FieldPath, entries};
use crate::{kinds::ResourceType, status::FieldError};

const STATUS: FieldPath<'static> = FieldPath::Root("status");

/// Returns the validation errors of a write through a subresource.
pub(super) fn validate(
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: &Value,
) -> Vec<FieldError> {
    let mut faults = ErrorList::default();
    if &*resource.group == "apps" && subresource == "status" {
        workload(&resource.plural, &object["status"], &old["status"], &mut faults);
    }
    faults.into_errors()
}

fn workload(plural: &str, status: &Value, old: &Value, errors: &mut ErrorList) {
    let number = |status: &Value, field: &str| status[field].as_i64().unwrap_or_default();
    for (field, value) in entries(status).filter(|(_, value)| value.is_number()) {
        errors.non_negative(&STATUS.field(field), value);
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
                &STATUS.field(field),
                number(status, field),
                "cannot be greater than status.replicas",
            );
        }
    }
    let available = number(status, "availableReplicas");
    if available > number(status, "readyReplicas") {
        let prefix = if plural == "statefulsets" { "status." } else { "" };
        let detail = format!("cannot be greater than {prefix}readyReplicas");
        errors.invalid(&STATUS.field("availableReplicas"), available, detail);
    }
    let collisions = number(status, "collisionCount");
    if collisions < number(old, "collisionCount") {
        errors.invalid(&STATUS.field("collisionCount"), collisions, "cannot be decremented");
    }
}
