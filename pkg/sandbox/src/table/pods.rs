//! Pods: the state of their containers.

use serde_json::{Value, json};

use super::{
    age,
    view::{NONE, ObjectView},
};

/// Returns the row condition of a completed pod.
pub(super) fn completed_condition(pod: &Value) -> Option<Value> {
    let (reason, message) = match pod["status"]["phase"].as_str()? {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!({"type": "Completed", "status": "True", "reason": reason, "message": message}))
}

pub(super) fn ready(pod: ObjectView<'_>) -> String {
    let ready = pod.items("/status/containerStatuses").filter(|container| container.flag("/ready")).count();
    format!("{ready}/{}", pod.count("/spec/containers"))
}

/// Returns the phase, or the reason why a container does not run. Ignores init containers, which never run here.
pub(super) fn status(pod: ObjectView<'_>) -> String {
    let phase = pod.str("/status/phase");
    if pod.is_deleting() && !matches!(phase, "Succeeded" | "Failed") {
        return "Terminating".to_owned();
    }
    let mut containers = pod.items("/status/containerStatuses");
    let reason = containers.find_map(|container| {
        let reason = container.str("/state/waiting/reason");
        let reason = if reason.is_empty() { container.str("/state/terminated/reason") } else { reason };
        Some(reason).filter(|reason| !reason.is_empty())
    });
    reason.unwrap_or_else(|| pod.str_or("/status/reason", phase)).to_owned()
}

pub(super) fn restarts(pod: ObjectView<'_>) -> String {
    let containers = || pod.items("/status/containerStatuses");
    let restarts: i64 = containers().map(|container| container.number("/restartCount")).sum();
    let ends = containers().filter_map(|one| age::seconds(one.str("/lastState/terminated/finishedAt")));
    match ends.max() {
        Some(time) if restarts > 0 => {
            format!("{restarts} ({} ago)", age::human(pod.now.saturating_sub(time)))
        }
        _ => restarts.to_string(),
    }
}

pub(super) fn readiness_gates(pod: ObjectView<'_>) -> String {
    let gates = pod.count("/spec/readinessGates");
    if gates == 0 {
        return NONE.to_owned();
    }
    let passed =
        pod.items("/spec/readinessGates").filter(|gate| pod.condition(gate.str("/conditionType")) == "True");
    format!("{}/{gates}", passed.count())
}
