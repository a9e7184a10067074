//! Machines: provisioning from bootstrap data and infrastructure to a Node, and deletion.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machine`, run. Workload clusters do not exist: a Machine reports its
//! Node as soon as its infrastructure is provisioned.

mod status;

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition},
    contract::{Contract, referred},
    object::{
        CLUSTER_NAME, add_finalizer, drop_owners, ensure_owner, generation, group, is_deleting, kind, name,
        owner_reference, owners, present, remove_finalizer, set, set_label, text,
    },
    plan::Plan,
    world::World,
};

const FINALIZER: &str = "machine.cluster.x-k8s.io";
/// Annotation prefixes of the hooks that delay the deletion of a Machine.
const HOOKS: [(&str, &str); 2] = [
    ("pre-drain.delete.hook.machine.cluster.x-k8s.io", "WaitingForPreDrainHook"),
    ("pre-terminate.delete.hook.machine.cluster.x-k8s.io", "WaitingForPreTerminateHook"),
];

/// The bootstrap configuration and the infrastructure of a Machine.
struct Parts {
    bootstrap: Option<Value>,
    infrastructure: Option<Value>,
}

impl Parts {
    fn of(world: &World<'_>, machine: &Value) -> Self {
        Self {
            bootstrap: referred(world, machine, "/spec/bootstrap/configRef"),
            infrastructure: referred(world, machine, "/spec/infrastructureRef"),
        }
    }
}

/// Plans the writes for a Machine.
pub(super) fn plan(world: &World<'_>, live: &Value, cluster: &Value) -> Plan {
    if is_deleting(live) {
        return deletion(world, live);
    }
    let mut plan = Plan::default();
    let mut machine = live.clone();
    add_finalizer(&mut machine, FINALIZER);
    set_label(&mut machine, CLUSTER_NAME, name(cluster));
    if owners(&machine).is_empty() {
        ensure_owner(&mut machine, owner_reference(cluster, false));
    }
    let parts = Parts::of(world, live);
    for part in [&parts.bootstrap, &parts.infrastructure].into_iter().flatten() {
        plan.change(part, adopted(part, live, cluster));
    }
    take_bootstrap(world, &mut machine, &parts);
    take_infrastructure(world, &mut machine, &parts);
    status::write(world, &mut machine);
    plan.change(live, machine);
    plan
}

/// Makes the Machine the controller of a part and removes the owners that created the part before the Machine.
fn adopted(part: &Value, machine: &Value, cluster: &Value) -> Value {
    let mut part = part.clone();
    if is_deleting(&part) {
        return part;
    }
    drop_owners(&mut part, &["MachineSet", "KubeadmControlPlane"]);
    ensure_owner(&mut part, owner_reference(machine, true));
    set_label(&mut part, CLUSTER_NAME, name(cluster));
    part
}

fn take_bootstrap(world: &World<'_>, machine: &mut Value, parts: &Parts) {
    if let Some(part) = &parts.bootstrap {
        let ready =
            world.contract(group(part), kind(part)).is_initialized(part, "ready", "dataSecretCreated");
        let secret = text(part, "/status/dataSecretName");
        if ready && !secret.is_empty() {
            set(machine, &["spec", "bootstrap", "dataSecretName"], json!(secret));
        }
    }
    if present(machine, "/spec/bootstrap/dataSecretName").is_some() {
        Contract::of(machine).set_initialized(machine, "bootstrapReady", "bootstrapDataSecretCreated");
    }
}

fn take_infrastructure(world: &World<'_>, machine: &mut Value, parts: &Parts) {
    let Some(part) = &parts.infrastructure else { return };
    let provider_id = text(part, "/spec/providerID");
    if provider_id.is_empty() || !world.contract(group(part), kind(part)).is_provisioned(part) {
        return;
    }
    set(machine, &["spec", "providerID"], json!(provider_id));
    if let Some(addresses) = present(part, "/status/addresses") {
        set(machine, &["status", "addresses"], addresses.clone());
    }
    Contract::of(machine).set_initialized(machine, "infrastructureReady", "infrastructureProvisioned");
    status::write_node(machine);
}

fn deletion(world: &World<'_>, live: &Value) -> Plan {
    let mut plan = Plan::default();
    let mut machine = live.clone();
    match waiting_for(world, live, &mut plan) {
        Some(reason) => {
            let now = world.now();
            set(&mut machine, &["status", "phase"], json!("Deleting"));
            set(&mut machine, &["status", "observedGeneration"], json!(generation(live)));
            let deleting = Condition::new("Deleting", true, reason);
            conditions::write(&mut machine, Contract::of(live), &[deleting], &[], &now);
        }
        None => remove_finalizer(&mut machine, FINALIZER),
    }
    plan.change(live, machine);
    plan
}

/// Returns the reason to wait: first hooks, then the infrastructure, then the bootstrap configuration.
fn waiting_for(world: &World<'_>, machine: &Value, plan: &mut Plan) -> Option<&'static str> {
    for (hook, reason) in HOOKS {
        let mut keys = machine["metadata"]["annotations"].as_object().into_iter().flat_map(|all| all.keys());
        if keys.any(|key| key.starts_with(hook)) {
            return Some(reason);
        }
    }
    let parts = Parts::of(world, machine);
    if let Some(part) = parts.infrastructure {
        plan.delete(&part);
        return Some("WaitingForInfrastructureDeletion");
    }
    if let Some(part) = parts.bootstrap {
        plan.delete(&part);
        return Some("WaitingForBootstrapDeletion");
    }
    None
}
