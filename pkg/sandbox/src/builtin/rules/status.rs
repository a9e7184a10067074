//! What the server refuses of a status, for the kinds whose status has rules.
//!
//! Source: the `Validate…StatusUpdate` functions of kube-apiserver 1.36.

use serde_json::Value;

use super::faults::{Faults, Path, items, text};
use crate::{kinds::ResourceType, status::FieldError};

const STATUS: Path<'static> = Path::Root("status");

/// The numbers in the status of a workload.
struct Counts {
    plural: &'static str,
    /// May not be negative.
    numbers: &'static [&'static str],
    /// May not be more than `replicas`.
    parts: &'static [&'static str],
    /// What those that are available may not be more than.
    ready: &'static str,
}

const WORKLOADS: [Counts; 4] = [
    Counts {
        plural: "daemonsets",
        numbers: &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        parts: &[],
        ready: "",
    },
    Counts {
        plural: "deployments",
        numbers: &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
        parts: &["updatedReplicas", "readyReplicas", "availableReplicas"],
        ready: "readyReplicas",
    },
    Counts {
        plural: "replicasets",
        numbers: &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
        parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        ready: "readyReplicas",
    },
    Counts {
        plural: "statefulsets",
        numbers: &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        parts: &["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
        ready: "status.readyReplicas",
    },
];

/// Everything that is wrong with what was written through a subresource.
pub(super) fn validate(
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: &Value,
) -> Vec<FieldError> {
    let mut faults = Faults::default();
    match (&*resource.group, &*resource.plural, subresource) {
        ("apps", plural, "status") => {
            if let Some(counts) = WORKLOADS.iter().find(|counts| counts.plural == plural) {
                workload(counts, &object["status"], &old["status"], &mut faults);
            }
        }
        ("certificates.k8s.io", "certificatesigningrequests", "status" | "approval") => {
            signing_request(&object["status"], &old["status"], subresource == "approval", &mut faults);
        }
        _ => {}
    }
    faults.into_errors()
}

fn workload(counts: &Counts, status: &Value, old: &Value, to: &mut Faults) {
    let number = |status: &Value, field: &str| status[field].as_i64().unwrap_or_default();
    for field in counts.numbers {
        to.not_negative(&STATUS.field(field), &status[*field]);
    }
    for field in counts.parts {
        if number(status, field) > number(status, "replicas") {
            to.invalid(&STATUS.field(field), number(status, field), "cannot be greater than status.replicas");
        }
    }
    let available = number(status, "availableReplicas");
    if !counts.ready.is_empty() && available > number(status, "readyReplicas") {
        let detail = format!("cannot be greater than {}", counts.ready);
        to.invalid(&STATUS.field("availableReplicas"), available, detail);
    }
    let counted = counts.numbers.contains(&"collisionCount");
    let collisions = number(status, "collisionCount");
    if counted && collisions < number(old, "collisionCount") {
        to.invalid(&STATUS.field("collisionCount"), collisions, "cannot be decremented");
    }
}

fn signing_request(status: &Value, old: &Value, by_approver: bool, to: &mut Faults) {
    let path = STATUS.field("conditions");
    conditions(&status["conditions"], &path, to);
    let of = |status: &Value, kind: &str| {
        items(&status["conditions"]).filter(|(_, condition)| condition["type"] == *kind).count()
    };
    for kind in ["Approved", "Denied", "Failed"] {
        if of(status, kind) < of(old, kind) {
            to.forbidden(&path, format!("updates may not remove a condition of type \"{kind}\""));
        }
    }
    for kind in ["Approved", "Denied"] {
        if !by_approver && of(status, kind) > of(old, kind) {
            to.forbidden(&path, format!("updates may not add a condition of type \"{kind}\""));
        }
    }
    let certificate = STATUS.field("certificate");
    if status["certificate"] != old["certificate"] {
        if by_approver {
            to.forbidden(&certificate, "updates may not set certificate content");
        } else if !text(&old["certificate"]).is_empty() {
            to.forbidden(&certificate, "updates may not modify existing certificate content");
        }
    }
}

fn conditions(list: &Value, path: &Path<'_>, to: &mut Faults) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, condition) in items(list) {
        let (path, kind, state) = (path.index(index), text(&condition["type"]), text(&condition["status"]));
        if kind.is_empty() {
            to.required(&path.field("type"), "");
        }
        let allowed: &[&str] = match kind {
            "Approved" | "Denied" | "Failed" => &["True"],
            _ => &["False", "True", "Unknown"],
        };
        if state.is_empty() {
            to.required(&path.field("status"), "");
        } else if !allowed.contains(&state) {
            to.unsupported(&path.field("status"), state, allowed);
        }
        let contrary = [("Approved", "Denied"), ("Denied", "Approved")];
        if contrary.iter().any(|(one, other)| kind == *one && seen.contains(other)) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            to.invalid(&STATUS.field("conditions"), kind, detail);
        }
        if seen.contains(&kind) {
            to.duplicate(&path.field("type"), kind);
        }
        seen.push(kind);
    }
}
