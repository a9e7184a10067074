//! The single Node and its Pods, which run as soon as they exist, with the status that a kubelet writes.
//!
//! Source: the status that a kubelet 1.36 writes to Nodes and Pods, and its final deletion of Pods whose containers
//! have terminated.

use manifest::YamlLimits;
use serde_json::{Value, json};

use super::children::{self, NEVER_READY, is_ready};
use crate::{
    builtin,
    client::Client,
    conditions,
    controllers::{Controller, ObjectRef, Reconciliation, Requeue},
    meta,
    status::Status,
    store::{Change, StoredObject},
};

const NODE: &str = "sandbox";
/// The address of the Node, from the range for documentation.
const NODE_ADDRESS: &str = "192.0.2.1";

/// Binds Pods of the default scheduler, runs the Pods of the Node, and ends deleted Pods on all Nodes.
#[derive(Debug)]
pub(super) struct Kubelet;

impl Controller for Kubelet {
    fn name(&self) -> &'static str {
        "kubelet"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        match (&*key.resource.group, &*key.resource.plural, &*key.name) {
            // The Node is created as soon as the namespace of its leases exists.
            ("", "namespaces", "kube-node-lease") | ("", "nodes", NODE) => {
                vec![ObjectRef::new("", "Node", "", NODE)]
            }
            ("", "pods", _) if !change.deleted => client.object_ref(key).into_iter().collect(),
            ("apps", "replicasets" | "daemonsets" | "statefulsets", _) | ("batch", "jobs", _)
                if change
                    .before
                    .as_deref()
                    .is_some_and(|before| blocks_readiness(before) != blocks_readiness(&change.after)) =>
            {
                controlled_pods(client, change)
            }
            _ => Vec::new(),
        }
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            match (&*object.kind, client.get(object)) {
                ("Node", None) => {
                    client.create(node(&client.now())).await?;
                }
                ("Node", Some(node)) => admit_pods(client, node).await?,
                ("Pod", Some(pod)) if !meta::is_deleting(&pod) => run(client, pod).await?,
                ("Pod", Some(pod)) if has_grace_period(&pod) => client.delete_now(object).await?,
                _ => {}
            }
            Ok(Requeue::AwaitChange)
        })
    }
}

/// True if a deleted Pod has a grace period. The Pod has no containers, so the grace period may end at once.
fn has_grace_period(pod: &Value) -> bool {
    let seconds = meta::field(pod, "deletionGracePeriodSeconds").and_then(Value::as_i64);
    seconds.is_some_and(|seconds| seconds > 0)
}

/// True if a stored object keeps Pods from becoming ready.
fn blocks_readiness(stored: &StoredObject) -> bool {
    stored.annotations().get(NEVER_READY).is_some_and(|value| value == "true")
}

fn is_never_ready(object: &Value) -> bool {
    object["metadata"]["annotations"][NEVER_READY] == "true"
}

fn controlled_pods(client: &Client, change: &Change) -> Vec<ObjectRef> {
    let owner = client.object_ref(&change.after.key);
    let pods = client.list("", "Pod", Some(&change.after.key.namespace));
    let controlled = pods.iter().filter(|pod| children::controller(pod) == owner);
    controlled.map(ObjectRef::of).collect()
}

/// Binds a Pod to the Node and updates its status.
async fn run(client: &Client, mut pod: Value) -> Result<(), Status> {
    let spec = &pod["spec"];
    let gated = spec["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    match spec["nodeName"].as_str() {
        None if spec["schedulerName"] == "default-scheduler" && !gated => {
            pod["spec"]["nodeName"] = NODE.into();
            pod = client.update_subresource(pod, "binding").await?;
        }
        Some(NODE) => {}
        _ => return Ok(()),
    }
    let controller = children::controller(&pod);
    let held = |owner: &ObjectRef| client.get(owner).is_some_and(|owner| is_never_ready(&owner));
    let fate = if is_never_ready(&pod) || controller.as_ref().is_some_and(held) {
        PodOutcome::NeverReady
    } else if controller.is_some_and(|controller| controller.kind == "Job") {
        PodOutcome::Succeeds
    } else {
        PodOutcome::Runs
    };
    let status = build(&pod, fate, &client.now());
    children::write_status(client, pod, status).await
}

/// Removes the taint of a new Node.
async fn admit_pods(client: &Client, mut node: Value) -> Result<(), Status> {
    const TAINT: &str = "node.kubernetes.io/not-ready";
    let taints = node["spec"]["taints"].as_array_mut();
    if let Some(taints) = taints.filter(|taints| taints.iter().any(|taint| taint["key"] == TAINT)) {
        taints.retain(|taint| taint["key"] != TAINT);
        client.update(node).await?;
    }
    Ok(())
}

fn node(now: &str) -> Value {
    let node = manifest::yaml::read_value(include_str!("node.yaml"), &YamlLimits::default());
    let mut node = node.expect("the file is valid: every start reads it");
    for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastHeartbeatTime"] = now.into();
        condition["lastTransitionTime"] = now.into();
    }
    node["status"]["nodeInfo"]["kubeletVersion"] = builtin::KUBERNETES_RELEASE.0.into();
    node
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PodOutcome {
    /// The Pod runs and is ready.
    Runs,
    Succeeds,
    /// The images of the Pod cannot be pulled.
    NeverReady,
}

/// Returns the status of a Pod on the Node. A terminated Pod and a Pod in its final state keep their status.
fn build(pod: &Value, outcome: PodOutcome, now: &str) -> Value {
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
