//! Pods: how far their containers are.

use serde_json::{Value, json};

use super::{
    AGE, Column, NAME, age, text,
    view::{NONE, View},
};

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    text("Ready"),
    text("Status"),
    text("Restarts"),
    AGE,
    text("IP").wide(),
    text("Node").wide(),
    text("Nominated Node").wide(),
    text("Readiness Gates").wide(),
];

/// The condition of a row whose pod has run to its end.
pub(super) fn completed(pod: &Value) -> Option<Value> {
    let (reason, message) = match pod["status"]["phase"].as_str()? {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!({"type": "Completed", "status": "True", "reason": reason, "message": message}))
}

pub(super) fn cells(pod: View<'_>) -> Vec<Value> {
    let summary = Summary::of(pod);
    let restarts = match summary.last_restart {
        Some(time) if summary.restarts > 0 => {
            format!("{} ({} ago)", summary.restarts, age::human(pod.now.saturating_sub(time)))
        }
        _ => summary.restarts.to_string(),
    };
    vec![
        pod.name(),
        format!("{}/{}", summary.ready, summary.total).into(),
        summary.state.into(),
        restarts.into(),
        pod.age(),
        pod.str_or("/status/podIPs/0/ip", NONE).into(),
        pod.str_or("/spec/nodeName", NONE).into(),
        pod.str_or("/status/nominatedNodeName", NONE).into(),
        readiness_gates(pod).into(),
    ]
}

fn readiness_gates(pod: View<'_>) -> String {
    let gates = pod.count("/spec/readinessGates");
    if gates == 0 {
        return NONE.to_owned();
    }
    let passed =
        pod.items("/spec/readinessGates").filter(|gate| pod.condition(gate.str("/conditionType")) == "True");
    format!("{}/{gates}", passed.count())
}

/// What the containers of a pod amount to.
struct Summary {
    ready: usize,
    total: usize,
    restarts: i64,
    /// Seconds since 1970.
    last_restart: Option<i64>,
    state: String,
}

impl Summary {
    fn of(pod: View<'_>) -> Self {
        let sidecars = pod.items("/spec/initContainers").filter(|container| is_sidecar(*container)).count();
        let phase = pod.str("/status/phase");
        let mut summary = Self {
            ready: 0,
            total: pod.count("/spec/containers") + sidecars,
            restarts: 0,
            last_restart: None,
            state: pod.str_or("/status/reason", phase).to_owned(),
        };
        if pod
            .items("/status/conditions")
            .any(|c| c.str("/type") == "PodScheduled" && c.str("/reason") == GATED)
        {
            GATED.clone_into(&mut summary.state);
        }
        let initializing = summary.add_init_containers(pod);
        if !initializing || pod.condition("Initialized") == "True" {
            summary.add_containers(pod);
        }
        if pod.is_deleting() && pod.str("/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.state);
        } else if pod.is_deleting() && !matches!(phase, "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut summary.state);
        }
        summary
    }

    fn add_restarts(&mut self, container: View<'_>) {
        self.restarts += container.number("/restartCount");
        self.last_restart =
            self.last_restart.max(age::seconds(container.str("/lastState/terminated/finishedAt")));
    }

    /// Looks at init containers up to the first that is not through. Returns whether there is such a one.
    fn add_init_containers(&mut self, pod: View<'_>) -> bool {
        for (index, container) in pod.items("/status/initContainerStatuses").enumerate() {
            self.add_restarts(container);
            let sidecar = is_sidecar_named(pod, container.str("/name"));
            let ended = container.get("/state/terminated").is_some();
            if ended && container.number("/state/terminated/exitCode") == 0 {
                continue;
            }
            if sidecar && container.flag("/started") {
                self.ready += usize::from(container.flag("/ready"));
                continue;
            }
            let waiting = container.str("/state/waiting/reason");
            let what = if ended {
                end(container)
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                waiting.to_owned()
            } else {
                format!("{index}/{}", pod.count("/spec/initContainers"))
            };
            self.state = format!("Init:{what}");
            return true;
        }
        false
    }

    /// Looks at the containers, last first: the state of the first one that says something stays. Restarts of init
    /// containers no longer count, but those of sidecars.
    fn add_containers(&mut self, pod: View<'_>) {
        (self.restarts, self.last_restart) = (0, None);
        for container in pod.items("/status/initContainerStatuses") {
            if is_sidecar_named(pod, container.str("/name")) {
                self.add_restarts(container);
            }
        }
        let (mut running, mut failure) = (false, String::new());
        for container in pod.items("/status/containerStatuses").rev() {
            self.add_restarts(container);
            let waiting = container.str("/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.state);
            } else if container.get("/state/terminated").is_some() {
                self.state = end(container);
                if container.number("/state/terminated/exitCode") != 0 {
                    failure.clone_from(&self.state);
                }
            } else if container.flag("/ready") && container.get("/state/running").is_some() {
                running = true;
                self.ready += 1;
            }
        }
        if self.state == "Completed" {
            if running && pod.condition("Ready") == "True" {
                "Running".clone_into(&mut self.state);
            } else if !failure.is_empty() {
                self.state = failure;
            } else if running {
                "NotReady".clone_into(&mut self.state);
            }
        }
    }
}

const GATED: &str = "SchedulingGated";

/// An init container that goes on beside the others.
fn is_sidecar(container: View<'_>) -> bool {
    container.str("/restartPolicy") == "Always"
}

fn is_sidecar_named(pod: View<'_>, name: &str) -> bool {
    pod.items("/spec/initContainers").any(|container| container.str("/name") == name && is_sidecar(container))
}

/// How a container ended: its reason, or else its signal or exit code.
fn end(container: View<'_>) -> String {
    let (reason, signal) =
        (container.str("/state/terminated/reason"), container.number("/state/terminated/signal"));
    if !reason.is_empty() {
        reason.to_owned()
    } else if signal != 0 {
        format!("Signal:{signal}")
    } else {
        format!("ExitCode:{}", container.number("/state/terminated/exitCode"))
    }
}
