//! Deletion of a Cluster: workers first, then the control plane, then the infrastructure.

use serde_json::Value;

use super::{ClusterParts, FINALIZER};
use crate::controllers::cluster_api::{
    conditions::{self, Condition},
    contract::Contract,
    object::{CORE, IS_CONTROL_PLANE, controller, generation, kind, label, remove_finalizer, set},
    plan::{ObjectReader, WritePlan, objects_of_cluster},
};

/// Kinds of workers, in the order of deletion.
const WORKERS: [&str; 4] = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
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
