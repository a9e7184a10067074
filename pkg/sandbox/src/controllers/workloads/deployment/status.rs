//! The status of a Deployment.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/deployment/progress.go` and `sync.go`.

use serde_json::{Value, json};

use super::{
    super::{
        children::{number, set_count},
        replica_set::FAILURE,
    },
    rollout::RolloutLimits,
};
use crate::{controllers::conditions, meta};

/// The reason of the condition `Progressing` after a complete rollout.
const COMPLETE: &str = "NewReplicaSetAvailable";

/// Builds the status of a Deployment with these ReplicaSets.
pub(super) fn build(
    deployment: &Value,
    limits: RolloutLimits,
    new: Option<&Value>,
    old: &[Value],
    now: &str,
) -> Value {
    let sum = |part: &str, field: &str| -> i64 {
        new.into_iter().chain(old).map(|set| number(&set[part][field])).sum()
    };
    let available = sum("status", "availableReplicas");
    let mut status = json!({
        "observedGeneration": meta::generation(deployment),
        "terminatingReplicas": sum("status", "terminatingReplicas"),
    });
    set_count(&mut status, "replicas", sum("status", "replicas"));
    set_count(&mut status, "readyReplicas", sum("status", "readyReplicas"));
    set_count(&mut status, "availableReplicas", available);
    set_count(&mut status, "updatedReplicas", new.map_or(0, |set| number(&set["status"]["replicas"])));
    set_count(&mut status, "unavailableReplicas", (sum("spec", "replicas") - available).max(0));
    if let Some(collisions) = deployment["status"].get("collisionCount") {
        status["collisionCount"] = collisions.clone();
    }
    let mut conditions = vec![
        availability(deployment, limits, available, now),
        progress(deployment, limits, new, &status, now),
    ];
    conditions.extend(new.into_iter().chain(old).find_map(|set| {
        let failure = conditions::find(&set["status"], FAILURE)?;
        let text = |field: &str| failure[field].as_str().unwrap_or_default();
        Some(condition(deployment, FAILURE, "True", text("reason"), text("message"), now))
    }));
    status["conditions"] = conditions.into();
    status
}

/// True if all existing Pods have the newest template and the desired number is available.
pub(super) fn is_complete(deployment: &Value, limits: RolloutLimits, status: &Value) -> bool {
    status["observedGeneration"] == meta::generation(deployment)
        && ["updatedReplicas", "replicas", "availableReplicas"]
            .iter()
            .all(|field| number(&status[*field]) == limits.desired)
}

fn availability(deployment: &Value, limits: RolloutLimits, available: i64, now: &str) -> Value {
    let (status, reason, message) = if available >= limits.desired - limits.unavailable {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    condition(deployment, "Available", status, reason, message, now)
}

fn progress(
    deployment: &Value,
    limits: RolloutLimits,
    new: Option<&Value>,
    status: &Value,
    now: &str,
) -> Value {
    let subject = new.map_or_else(
        || format!("Deployment {:?}", meta::name(deployment)),
        |set| format!("ReplicaSet {:?}", meta::name(set)),
    );
    let done = format!("{subject} has successfully progressed.");
    // A complete rollout stays complete even if its Pods fail.
    let was_complete = conditions::find(&deployment["status"], "Progressing")
        .is_some_and(|condition| condition["reason"] == COMPLETE && condition["message"] == done.as_str())
        && status["replicas"] == status["updatedReplicas"];
    let (value, reason, message) = if deployment["spec"]["paused"] == true {
        ("Unknown", "DeploymentPaused", "Deployment is paused".to_owned())
    } else if was_complete || is_complete(deployment, limits, status) {
        ("True", COMPLETE, done)
    } else {
        ("True", "ReplicaSetUpdated", format!("{subject} is progressing."))
    };
    condition(deployment, "Progressing", value, reason, &message, now)
}

/// A condition with the time of its last change in addition to the time of its last transition.
fn condition(deployment: &Value, kind: &str, status: &str, reason: &str, message: &str, now: &str) -> Value {
    let old = &deployment["status"];
    let mut condition = conditions::build(old, kind, status, reason, message, now);
    let same = conditions::find(old, kind)
        .filter(|old| ["status", "reason", "message"].iter().all(|field| old[*field] == condition[*field]));
    condition["lastUpdateTime"] =
        same.map_or_else(|| json!(now), |condition| condition["lastUpdateTime"].clone());
    condition
}
