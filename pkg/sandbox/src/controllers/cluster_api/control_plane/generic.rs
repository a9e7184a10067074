//! Control planes of providers other than kubeadm, which become ready as soon as their Cluster has infrastructure.

use serde_json::{Value, json};

use crate::controllers::cluster_api::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_infrastructure},
    object::{
        CONTROL_PLANE, add_finalizer, desired_replicas, generation, group, is_deleting, kind, non_null,
        owner_of_kind, set,
    },
    plan::{ObjectReader, WritePlan},
    secrets,
};

/// Plans the writes for a control plane of another provider.
pub(crate) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let mut object = live.clone();
    let finalizer = format!("{}.{CONTROL_PLANE}", kind(live).to_lowercase());
    if is_deleting(live) {
        return WritePlan::deletion(live, &finalizer, []);
    }
    if owner_of_kind(live, "Cluster").is_none() {
        return plan;
    }
    add_finalizer(&mut object, &finalizer);
    let contract = reader.contract(group(live), kind(live));
    let up = has_infrastructure(cluster);
    if up {
        secrets::ensure_kubeconfig(reader, cluster, live, &mut plan);
        mark_initialized(&mut object, contract);
    }
    let available = [Condition::positive("Available", "Available", up), Condition::activity("Paused", false)];
    match contract {
        Contract::V1Beta1 => {
            let ready = [legacy("Ready", up, "WaitingForInfrastructure")];
            conditions::write(&mut object, contract, &[], &ready, &reader.now());
        }
        Contract::V1Beta2 => {
            set(&mut object, &["status", "observedGeneration"], json!(generation(live)));
            conditions::write(&mut object, contract, &available, &[], &reader.now());
        }
    }
    plan.update(live, object);
    plan
}

fn mark_initialized(object: &mut Value, contract: Contract) {
    contract.set_initialized(object, "initialized", "controlPlaneInitialized");
    if contract == Contract::V1Beta1 {
        set(object, &["status", "ready"], json!(true));
    }
    if let Some(version) = non_null(object, "/spec/version").cloned() {
        set(object, &["status", "version"], version);
    }
    // Only kinds with replicas report replica counts.
    if non_null(object, "/spec/replicas").is_some() {
        let replicas = desired_replicas(object);
        let counts: &[&str] = match contract {
            Contract::V1Beta1 => &["replicas", "readyReplicas", "updatedReplicas"],
            Contract::V1Beta2 => &["replicas", "readyReplicas", "upToDateReplicas", "availableReplicas"],
        };
        for count in counts {
            set(object, &["status", count], json!(replicas));
        }
    }
}
