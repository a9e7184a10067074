//! Clusters: provisioning from infrastructure and control plane to phase `Provisioned`, and ordered deletion.
//!
//! Source: Cluster API v1.14 `core/reconcilers/cluster`, run.

mod status;

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition},
    contract::{Contract, referenced_object},
    object::{
        CLUSTER_NAME, CORE, IS_CONTROL_PLANE, add_finalizer, controller, ensure_owner, generation, group,
        is_deleting, kind, label, name, non_null, owner_reference, remove_finalizer, set, set_label,
    },
    plan::{ObjectReader, WritePlan, objects_of_cluster},
    topology,
};

const FINALIZER: &str = "cluster.cluster.x-k8s.io";

/// Plans the writes for a Cluster.
pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    if is_deleting(live) {
        return plan_deletion(reader, live);
    }
    let mut plan = WritePlan::default();
    let mut cluster = live.clone();
    add_finalizer(&mut cluster, FINALIZER);
    let topology = topology::is_managed(live).then(|| topology::build(reader, &mut cluster, &mut plan));
    let parts = ClusterParts::of(reader, &cluster);
    for part in [&parts.infrastructure, &parts.control_plane].into_iter().flatten() {
        plan.update(part, with_owner(part, &cluster));
    }
    copy_endpoint(reader, &mut cluster, &parts);
    status::write(reader, &mut cluster, &parts, topology.as_ref());
    plan.update(live, cluster);
    plan
}

/// The existing infrastructure and control plane of a Cluster.
pub(super) struct ClusterParts {
    infrastructure: Option<Value>,
    control_plane: Option<Value>,
}

impl ClusterParts {
    fn of(reader: &ObjectReader<'_>, cluster: &Value) -> Self {
        Self {
            infrastructure: referenced_object(reader, cluster, "/spec/infrastructureRef"),
            control_plane: referenced_object(reader, cluster, "/spec/controlPlaneRef"),
        }
    }
}

/// Adds the Cluster as owner of its infrastructure or control plane. Under contract v1beta2, the Cluster controls only
/// objects of a managed topology, so that user-created objects may have another controller.
fn with_owner(part: &Value, cluster: &Value) -> Value {
    let mut part = part.clone();
    if is_deleting(&part) {
        return part;
    }
    let controls = topology::is_managed(cluster) || Contract::of(cluster) == Contract::V1Beta1;
    ensure_owner(&mut part, owner_reference(cluster, controls));
    set_label(&mut part, CLUSTER_NAME, name(cluster));
    part
}

/// Copies the control plane endpoint from the infrastructure, or else from the control plane.
fn copy_endpoint(reader: &ObjectReader<'_>, cluster: &mut Value, parts: &ClusterParts) {
    if non_null(cluster, "/spec/controlPlaneEndpoint/host").is_some_and(|host| host != "") {
        return;
    }
    let ready = parts
        .infrastructure
        .iter()
        .filter(|part| reader.contract(group(part), kind(part)).is_provisioned(part));
    let endpoint = ready
        .chain(&parts.control_plane)
        .map(|part| &part["spec"]["controlPlaneEndpoint"])
        .find(|endpoint| endpoint["host"].as_str().is_some_and(|host| !host.is_empty()));
    if let Some(endpoint) = endpoint {
        let endpoint = json!({"host": endpoint["host"], "port": endpoint["port"]});
        set(cluster, &["spec", "controlPlaneEndpoint"], endpoint);
    }
}

/// Kinds of workers, in the order of deletion.
const WORKERS: [&str; 4] = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];

fn plan_deletion(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let mut cluster = live.clone();
    if let Some((reason, message)) = delete_next(reader, live, &mut plan) {
        let deleting = Condition::new("Deleting", true, reason).with_message(message);
        set(&mut cluster, &["status", "phase"], "Deleting".into());
        set(&mut cluster, &["status", "observedGeneration"], generation(live).into());
        conditions::write(&mut cluster, Contract::of(live), &[deleting], &[], &reader.now());
    } else {
        remove_finalizer(&mut cluster, FINALIZER);
    }
    plan.update(live, cluster);
    plan
}

/// Deletes the next objects and returns the reason to wait: `None` if no object is left.
fn delete_next(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    plan: &mut WritePlan,
) -> Option<(&'static str, String)> {
    let workers: Vec<Value> = WORKERS
        .iter()
        .flat_map(|kind| objects_of_cluster(reader, CORE, kind, cluster))
        .filter(|worker| label(worker, IS_CONTROL_PLANE).is_none())
        .collect();
    if !workers.is_empty() {
        // The controller of a worker deletes the worker.
        for worker in workers.iter().filter(|worker| controller(worker).is_none_or(is_cluster)) {
            plan.delete(worker);
        }
        let mut kinds: Vec<String> = WORKERS
            .iter()
            .map(|one| (one, workers.iter().filter(|worker| kind(worker) == *one).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("* {kind}s: {count}"))
            .collect();
        kinds.sort();
        return Some(("WaitingForWorkersDeletion", kinds.join("\n")));
    }
    let parts = ClusterParts::of(reader, cluster);
    if let Some(control_plane) = parts.control_plane {
        plan.delete(&control_plane);
        return Some((
            "WaitingForControlPlaneDeletion",
            format!("Waiting for {} to be deleted", kind(&control_plane)),
        ));
    }
    // Deletes the remaining Machines, such as control plane Machines without an owner.
    let machines = objects_of_cluster(reader, CORE, "Machine", cluster);
    if !machines.is_empty() {
        plan.delete_all(&machines);
        return Some(("WaitingForControlPlaneDeletion", format!("* Machines: {}", machines.len())));
    }
    let infrastructure = parts.infrastructure?;
    plan.delete(&infrastructure);
    Some(("WaitingForInfrastructureDeletion", format!("Waiting for {} to be deleted", kind(&infrastructure))))
}

fn is_cluster(owner: &Value) -> bool {
    owner["kind"] == "Cluster"
}
