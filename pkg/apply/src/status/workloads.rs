//! Workloads with a number of Pods.

use manifest::Object;

use super::{Condition, Conditions, Health, Status, conditions::missing_condition_status, integer, text};

/// The default of `spec.replicas`.
const DEFAULT_REPLICAS: i64 = 1;

/// The deadline that means no deadline. With this value, or without the field, the controller never reports the
/// condition.
const NO_DEADLINE: i64 = i32::MAX as i64;

pub(super) fn deployment(object: &Object, conditions: &Conditions<'_>) -> Status {
    let progressing = conditions.get("Progressing");
    if let Some(stuck) = progressing.filter(|condition| condition.reason == "ProgressDeadlineExceeded") {
        return Status::of(Health::Failed, stuck.describe());
    }
    let wanted = desired_replicas(object);
    let count = |field| number(object, field);
    let updated = count("updatedReplicas");
    let shortage = missing_replicas(count("replicas"), wanted, "created")
        .or_else(|| missing_replicas(updated, wanted, "updated"))
        .or_else(|| surplus(count("replicas"), wanted))
        .or_else(|| missing_replicas(count("availableReplicas"), updated, "available"))
        .or_else(|| missing_replicas(count("readyReplicas"), wanted, "ready"));
    if let Some(shortage) = shortage {
        return Status::in_progress(explained(&shortage, conditions));
    }
    let deadline = integer(object, &["spec", "progressDeadlineSeconds"]).unwrap_or(NO_DEADLINE);
    if deadline != NO_DEADLINE && !progressing.is_some_and(is_rolled_out) {
        return missing_condition_status(conditions, "Progressing");
    }
    if conditions.get_true("Available").is_none() {
        return missing_condition_status(conditions, "Available");
    }
    Status::current()
}

fn is_rolled_out(progressing: &Condition<'_>) -> bool {
    progressing.is_true() && progressing.reason == "NewReplicaSetAvailable"
}

/// Explains a shortage by a condition: a failure to create Pods comes first.
fn explained(shortage: &str, conditions: &Conditions<'_>) -> String {
    if let Some(failure) = conditions.get_true("ReplicaFailure") {
        return format!("{shortage}{}", failure.suffix());
    }
    match conditions.get("Available") {
        Some(available) if !available.is_true() => format!("Available: {shortage}{}", available.suffix()),
        _ => shortage.to_owned(),
    }
}

pub(super) fn stateful_set(object: &Object) -> Status {
    if text(object, &["spec", "updateStrategy", "type"]) == "OnDelete" {
        return Status::current();
    }
    let wanted = desired_replicas(object);
    let count = |field| number(object, field);
    let shortage = missing_replicas(count("replicas"), wanted, "created")
        .or_else(|| missing_replicas(count("readyReplicas"), wanted, "ready"))
        .or_else(|| surplus(count("replicas"), wanted))
        .or_else(|| match integer(object, &["spec", "updateStrategy", "rollingUpdate", "partition"]) {
            Some(partition) => {
                missing_replicas(count("updatedReplicas"), wanted.saturating_sub(partition), "updated")
            }
            None => missing_replicas(count("currentReplicas"), wanted, "current")
                .or_else(|| revision_mismatch(object)),
        });
    shortage.map_or_else(Status::current, Status::in_progress)
}

fn revision_mismatch(object: &Object) -> Option<String> {
    let (current, update) =
        (text(object, &["status", "currentRevision"]), text(object, &["status", "updateRevision"]));
    (current != update).then(|| format!("updating from revision {current} to {update}"))
}

pub(super) fn daemon_set(object: &Object) -> Status {
    let has = |path: &[&str]| integer(object, path).is_some();
    if !has(&["metadata", "generation"]) || !has(&["status", "observedGeneration"]) {
        return Status::in_progress("its controller has not observed it yet");
    }
    let Some(wanted) = integer(object, &["status", "desiredNumberScheduled"]) else {
        return Status::in_progress("its controller has not counted nodes yet");
    };
    let count = |field| number(object, field);
    let shortage = missing_replicas(count("currentNumberScheduled"), wanted, "created")
        .or_else(|| missing_replicas(count("updatedNumberScheduled"), wanted, "updated"))
        .or_else(|| missing_replicas(count("numberAvailable"), wanted, "available"))
        .or_else(|| missing_replicas(count("numberReady"), wanted, "ready"));
    shortage.map_or_else(Status::current, Status::in_progress)
}

pub(super) fn replica_set(object: &Object, conditions: &Conditions<'_>) -> Status {
    if let Some(failure) = conditions.get_true("ReplicaFailure") {
        return Status::in_progress(failure.describe());
    }
    let wanted = desired_replicas(object);
    let count = |field| number(object, field);
    let shortage = missing_replicas(count("fullyLabeledReplicas"), wanted, "labelled")
        .or_else(|| missing_replicas(count("availableReplicas"), wanted, "available"))
        .or_else(|| missing_replicas(count("readyReplicas"), wanted, "ready"))
        .or_else(|| surplus(count("replicas"), wanted));
    shortage.map_or_else(Status::current, Status::in_progress)
}

fn desired_replicas(object: &Object) -> i64 {
    integer(object, &["spec", "replicas"]).unwrap_or(DEFAULT_REPLICAS)
}

fn number(object: &Object, field: &str) -> i64 {
    integer(object, &["status", field]).unwrap_or(0)
}

fn missing_replicas(is: i64, wanted: i64, word: &str) -> Option<String> {
    (is < wanted).then(|| format!("{is} of {wanted} replicas {word}"))
}

fn surplus(is: i64, wanted: i64) -> Option<String> {
    (is > wanted).then(|| format!("{is} replicas exist, {wanted} wanted"))
}
