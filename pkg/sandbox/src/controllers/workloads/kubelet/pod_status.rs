//! The Pod status that a kubelet writes.

use serde_json::{Value, json};

use super::{super::children::is_ready, NODE_ADDRESS};
use crate::{controllers::conditions, meta};

/// The simulated outcome of a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodOutcome {
    /// The Pod runs and is ready.
    Runs,
    Succeeds,
    /// The images of the Pod cannot be pulled.
    NeverReady,
}

/// Returns the status of a Pod on the Node. A terminated Pod and a Pod in its final state keep their status.
pub(super) fn build(pod: &Value, outcome: PodOutcome, now: &str) -> Value {
    let old = &pod["status"];
    let phase = match outcome {
        PodOutcome::Runs => "Running",
        PodOutcome::Succeeds => "Succeeded",
        PodOutcome::NeverReady => "Pending",
    };
    let settled = old["phase"] == phase && old["startTime"].is_string();
    let ended = old["phase"] == "Succeeded" || old["phase"] == "Failed";
    if ended || settled && is_ready(pod) == (outcome == PodOutcome::Runs) {
        return old.clone();
    }
    let address = address(pod);
    let mut status = old.clone();
    for (field, value) in [
        ("phase", json!(phase)),
        ("observedGeneration", json!(meta::generation(pod))),
        ("startTime", old.get("startTime").cloned().unwrap_or_else(|| json!(now))),
        ("hostIP", json!(NODE_ADDRESS)),
        ("hostIPs", json!([{"ip": NODE_ADDRESS}])),
        ("podIP", json!(address)),
        ("podIPs", json!([{"ip": address}])),
        ("conditions", pod_conditions(pod, outcome, now)),
        ("containerStatuses", containers(pod, "containers", outcome, now)),
    ] {
        status[field] = value;
    }
    if pod["spec"]["initContainers"].is_array() {
        let fate = if outcome == PodOutcome::Runs { PodOutcome::Succeeds } else { outcome };
        status["initContainerStatuses"] = containers(pod, "initContainers", fate, now);
    }
    status
}

/// The address of a Pod in 10.128.0.0/9. A new address comes from the revision of the Pod, which is unique.
fn address(pod: &Value) -> String {
    if let Some(there) = pod["status"]["podIP"].as_str() {
        return there.to_owned();
    }
    if pod["spec"]["hostNetwork"] == true {
        return NODE_ADDRESS.to_owned();
    }
    let revision: u64 = meta::text(pod, "resourceVersion").parse().unwrap_or_default();
    let part = |bits: u32| (revision >> bits) & 0xff;
    format!("10.{}.{}.{}", 128 + (part(16) & 0x7f), part(8), part(0))
}

fn pod_conditions(pod: &Value, outcome: PodOutcome, now: &str) -> Value {
    let names: Vec<&str> = pod["spec"]["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|container| container["name"].as_str())
        .collect();
    let unready = format!("containers with unready status: [{}]", names.join(" "));
    let (ready, reason, message) = match outcome {
        PodOutcome::Runs => ("True", "", ""),
        PodOutcome::Succeeds => ("False", "PodCompleted", ""),
        PodOutcome::NeverReady => ("False", "ContainersNotReady", unready.as_str()),
    };
    let started = if outcome == PodOutcome::Succeeds { "False" } else { "True" };
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        let mut condition = conditions::build(&pod["status"], kind, status, reason, message, now);
        condition["observedGeneration"] = meta::generation(pod).into();
        condition["lastProbeTime"] = Value::Null;
        condition
    };
    json!([
        condition("PodReadyToStartContainers", started, "", ""),
        condition(
            "Initialized",
            "True",
            if outcome == PodOutcome::Succeeds { "PodCompleted" } else { "" },
            ""
        ),
        condition("Ready", ready, reason, message),
        condition("ContainersReady", ready, reason, message),
        condition("PodScheduled", "True", "", ""),
    ])
}

fn containers(pod: &Value, field: &str, outcome: PodOutcome, now: &str) -> Value {
    let containers = pod["spec"][field].as_array().into_iter().flatten();
    let status = |container: &Value| {
        let image = container["image"].as_str().unwrap_or_default();
        // An init container that always restarts is a sidecar and runs beside the other containers.
        let beside = field == "initContainers" && container["restartPolicy"] == "Always";
        let state = match outcome {
            PodOutcome::NeverReady => json!({"waiting": {
                "reason": "ImagePullBackOff", "message": format!("Back-off pulling image {image:?}"),
            }}),
            PodOutcome::Succeeds if !beside => json!({"terminated": {
                "exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now,
            }}),
            PodOutcome::Runs | PodOutcome::Succeeds => json!({"running": {"startedAt": now}}),
        };
        let running = state["running"].is_object();
        json!({
            "name": container["name"], "image": image, "imageID": "", "lastState": {}, "restartCount": 0,
            "ready": running || field == "initContainers" && outcome == PodOutcome::Succeeds,
            "started": running, "state": state,
        })
    };
    containers.map(status).collect()
}
