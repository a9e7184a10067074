//! MachinePools: many machines in one infrastructure object, without Machine objects.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machinepool`.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, referenced_object},
    counts::MachineCounts,
    infrastructure::is_pool_ready,
    object::{
        CLUSTER_NAME, add_finalizer, desired_replicas, ensure_owner, generation, group, is_deleting, kind,
        name, non_null, number, owner_reference, set, set_label, text,
    },
    plan::{ObjectReader, WritePlan},
};

const FINALIZER: &str = "machinepool.cluster.x-k8s.io";

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let mut pool = live.clone();
    let bootstrap = referenced_object(reader, live, "/spec/template/spec/bootstrap/configRef");
    let infrastructure = referenced_object(reader, live, "/spec/template/spec/infrastructureRef");
    let parts = [&bootstrap, &infrastructure];
    if is_deleting(live) {
        return WritePlan::deletion(live, FINALIZER, parts.into_iter().flatten());
    }
    add_finalizer(&mut pool, FINALIZER);
    set_label(&mut pool, CLUSTER_NAME, name(cluster));
    ensure_owner(&mut pool, owner_reference(cluster, false));
    if number(live, "/spec/replicas").is_none() {
        set(&mut pool, &["spec", "replicas"], json!(1));
    }
    for part in parts.into_iter().flatten().filter(|part| !is_deleting(part)) {
        let mut owned = part.clone();
        super::object::remove_owners(&mut owned, &["Cluster"]);
        ensure_owner(&mut owned, owner_reference(live, true));
        set_label(&mut owned, CLUSTER_NAME, name(cluster));
        plan.update(part, owned);
    }
    copy_bootstrap_data(reader, &mut pool, bootstrap.as_ref());
    copy_infrastructure_status(&mut pool, infrastructure.as_ref());
    write_status(reader, &mut pool);
    plan.update(live, pool);
    plan
}

fn copy_bootstrap_data(reader: &ObjectReader<'_>, pool: &mut Value, bootstrap: Option<&Value>) {
    if let Some(part) = bootstrap {
        let contract = reader.contract(group(part), kind(part));
        if contract.is_initialized(part, "ready", "dataSecretCreated") {
            let secret = part["status"]["dataSecretName"].clone();
            set(pool, &["spec", "template", "spec", "bootstrap", "dataSecretName"], secret);
        }
    }
    if non_null(pool, "/spec/template/spec/bootstrap/dataSecretName").is_some() {
        Contract::of(pool).set_initialized(pool, "bootstrapReady", "bootstrapDataSecretCreated");
    }
}

fn copy_infrastructure_status(pool: &mut Value, infrastructure: Option<&Value>) {
    let Some(part) = infrastructure.filter(|part| is_pool_ready(part)) else { return };
    let ids = part["spec"]["providerIDList"].as_array().cloned().unwrap_or_default();
    let nodes: Vec<Value> = ids
        .iter()
        .filter_map(Value::as_str)
        .map(|id| json!({"apiVersion": "v1", "kind": "Node", "name": id.rsplit('/').next(), "uid": id}))
        .collect();
    set(pool, &["spec", "providerIDList"], json!(ids));
    set(pool, &["status", "nodeRefs"], json!(nodes));
    Contract::of(pool).set_initialized(pool, "infrastructureReady", "infrastructureProvisioned");
}

fn write_status(reader: &ObjectReader<'_>, pool: &mut Value) {
    let contract = Contract::of(pool);
    let existing = pool["status"]["nodeRefs"].as_array().map_or(0, Vec::len);
    let wanted = desired_replicas(pool);
    let counts = MachineCounts {
        desired: wanted,
        replicas: existing,
        up_to_date: existing,
        ready: existing,
        available: existing,
    };
    counts.write(pool, contract, &["availableReplicas", "readyReplicas", "unavailableReplicas"]);
    let bootstrap = contract.is_initialized(pool, "bootstrapReady", "bootstrapDataSecretCreated");
    let infrastructure = contract.is_initialized(pool, "infrastructureReady", "infrastructureProvisioned");
    let phase = match (infrastructure, bootstrap) {
        (true, _) if counts.is_scaling_up() => "ScalingUp",
        (true, _) if counts.is_scaling_down() => "ScalingDown",
        (true, _) => "Running",
        (false, true) => "Provisioning",
        (false, false) => "Pending",
    };
    if text(pool, "/status/phase") != phase {
        set(pool, &["status", "phase"], json!(phase));
    }
    set(pool, &["status", "observedGeneration"], json!(generation(pool)));
    // Contract v1beta2 has no other conditions for MachinePools.
    let new = [Condition::activity("Paused", false)];
    let old = [
        legacy("Ready", infrastructure && existing == wanted, "WaitingForReplicasReady"),
        legacy("BootstrapReady", bootstrap, "WaitingForDataSecret"),
        legacy("InfrastructureReady", infrastructure, "WaitingForInfrastructure"),
        legacy("ReplicasReady", existing == wanted, "WaitingForReplicasReady"),
    ];
    conditions::write(pool, contract, &new, &old, &reader.now());
}
