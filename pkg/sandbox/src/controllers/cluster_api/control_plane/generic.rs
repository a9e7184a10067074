//! Control planes of providers other than kubeadm, which become ready as soon as their Cluster has infrastructure.

use serde_json::{Value, json};

use crate::controllers::cluster_api::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_infrastructure},
    object::{
        CONTROL_PLANE, add_finalizer, generation, group, is_deleting, kind, owner_of_kind, present,
        remove_finalizer, set, wanted_replicas,
    },
    plan::Plan,
    secrets,
    world::World,
};

/// Plans the writes for a control plane of another provider.
pub(crate) fn plan(world: &World<'_>, live: &Value, cluster: &Value) -> Plan {
    let mut plan = Plan::default();
    let mut object = live.clone();
    let finalizer = format!("{}.{CONTROL_PLANE}", kind(live).to_lowercase());
    if is_deleting(live) {
        remove_finalizer(&mut object, &finalizer);
        plan.change(live, object);
        return plan;
    }
    if owner_of_kind(live, "Cluster").is_none() {
        return plan;
    }
    add_finalizer(&mut object, &finalizer);
    let contract = world.contract(group(live), kind(live));
    let up = has_infrastructure(cluster);
    if up {
        secrets::ensure_kubeconfig(world, cluster, live, &mut plan);
        bring_up(&mut object, contract);
    }
    let available = [Condition::positive("Available", "Available", up), Condition::activity("Paused", false)];
    match contract {
        Contract::V1Beta1 => {
            let ready = [legacy("Ready", up, "WaitingForInfrastructure")];
            conditions::write(&mut object, contract, &[], &ready, &world.now());
        }
        Contract::V1Beta2 => {
            set(&mut object, &["status", "observedGeneration"], json!(generation(live)));
            conditions::write(&mut object, contract, &available, &[], &world.now());
        }
    }
    plan.change(live, object);
    plan
}

fn bring_up(object: &mut Value, contract: Contract) {
    contract.set_initialized(object, "initialized", "controlPlaneInitialized");
    if contract == Contract::V1Beta1 {
        set(object, &["status", "ready"], json!(true));
    }
    if let Some(version) = present(object, "/spec/version").cloned() {
        set(object, &["status", "version"], version);
    }
    // Only kinds with replicas report replica counts.
    if present(object, "/spec/replicas").is_some() {
        let replicas = wanted_replicas(object);
        let counts: &[&str] = match contract {
            Contract::V1Beta1 => &["replicas", "readyReplicas", "updatedReplicas"],
            Contract::V1Beta2 => &["replicas", "readyReplicas", "upToDateReplicas", "availableReplicas"],
        };
        for count in counts {
            set(object, &["status", count], json!(replicas));
        }
    }
}
