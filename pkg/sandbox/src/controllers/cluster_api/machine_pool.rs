//! MachinePools: many machines in one infrastructure object, without Machine objects.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machinepool`.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, referred},
    counts::Counts,
    infrastructure::is_pool_ready,
    object::{
        CLUSTER_NAME, add_finalizer, ensure_owner, generation, group, is_deleting, kind, name, number,
        owner_reference, present, remove_finalizer, set, set_label, text, wanted_replicas,
    },
    plan::Plan,
    world::World,
};

const FINALIZER: &str = "machinepool.cluster.x-k8s.io";

/// Plans the writes for a MachinePool.
pub(super) fn plan(world: &World<'_>, live: &Value, cluster: &Value) -> Plan {
    let mut plan = Plan::default();
    let mut pool = live.clone();
    let bootstrap = referred(world, live, "/spec/template/spec/bootstrap/configRef");
    let infrastructure = referred(world, live, "/spec/template/spec/infrastructureRef");
    let parts = [&bootstrap, &infrastructure];
    if is_deleting(live) {
        plan.delete_all(parts.into_iter().flatten());
        if bootstrap.is_none() && infrastructure.is_none() {
            remove_finalizer(&mut pool, FINALIZER);
        }
        plan.change(live, pool);
        return plan;
    }
    add_finalizer(&mut pool, FINALIZER);
    set_label(&mut pool, CLUSTER_NAME, name(cluster));
    ensure_owner(&mut pool, owner_reference(cluster, false));
    if number(live, "/spec/replicas").is_none() {
        set(&mut pool, &["spec", "replicas"], json!(1));
    }
    for part in parts.into_iter().flatten().filter(|part| !is_deleting(part)) {
        let mut owned = part.clone();
        super::object::drop_owners(&mut owned, &["Cluster"]);
        ensure_owner(&mut owned, owner_reference(live, true));
        set_label(&mut owned, CLUSTER_NAME, name(cluster));
        plan.change(part, owned);
    }
    take_bootstrap(world, &mut pool, bootstrap.as_ref());
    take_infrastructure(&mut pool, infrastructure.as_ref());
    write_status(world, &mut pool);
    plan.change(live, pool);
    plan
}

fn take_bootstrap(world: &World<'_>, pool: &mut Value, bootstrap: Option<&Value>) {
    if let Some(part) = bootstrap {
        let contract = world.contract(group(part), kind(part));
        if contract.is_initialized(part, "ready", "dataSecretCreated") {
            let secret = part["status"]["dataSecretName"].clone();
            set(pool, &["spec", "template", "spec", "bootstrap", "dataSecretName"], secret);
        }
    }
    if present(pool, "/spec/template/spec/bootstrap/dataSecretName").is_some() {
        Contract::of(pool).set_initialized(pool, "bootstrapReady", "bootstrapDataSecretCreated");
    }
}

fn take_infrastructure(pool: &mut Value, infrastructure: Option<&Value>) {
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

fn write_status(world: &World<'_>, pool: &mut Value) {
    let contract = Contract::of(pool);
    let there = pool["status"]["nodeRefs"].as_array().map_or(0, Vec::len);
    let wanted = wanted_replicas(pool);
    let counts = Counts { wanted, replicas: there, up_to_date: there, ready: there, available: there };
    counts.write(pool, contract, &["availableReplicas", "readyReplicas", "unavailableReplicas"]);
    let bootstrap = contract.is_initialized(pool, "bootstrapReady", "bootstrapDataSecretCreated");
    let infrastructure = contract.is_initialized(pool, "infrastructureReady", "infrastructureProvisioned");
    let phase = match (infrastructure, bootstrap) {
        (true, _) if counts.grows() => "ScalingUp",
        (true, _) if counts.shrinks() => "ScalingDown",
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
        legacy("Ready", infrastructure && there == wanted, "WaitingForReplicasReady"),
        legacy("BootstrapReady", bootstrap, "WaitingForDataSecret"),
        legacy("InfrastructureReady", infrastructure, "WaitingForInfrastructure"),
        legacy("ReplicasReady", there == wanted, "WaitingForReplicasReady"),
    ];
    conditions::write(pool, contract, &new, &old, &world.now());
}
