//! Machines: provisioning from bootstrap data and infrastructure to a Node, and deletion.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machine`, run. Workload clusters do not exist: a Machine reports its
//! Node as soon as its infrastructure is provisioned.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, referenced_object},
    control_plane, deployment,
    object::{
        CLUSTER_NAME, IS_CONTROL_PLANE, add_finalizer, controller, ensure_owner, generation, group,
        is_deleting, kind, label, name, namespace, non_null, owner_ref, owner_reference, owners,
        remove_finalizer, remove_owners, set, set_label, text, uid,
    },
    plan::{ObjectReader, WritePlan},
};

const FINALIZER: &str = "machine.cluster.x-k8s.io";
/// Annotation prefixes of the hooks that delay the deletion of a Machine.
const HOOKS: [(&str, &str); 2] = [
    ("pre-drain.delete.hook.machine.cluster.x-k8s.io", "WaitingForPreDrainHook"),
    ("pre-terminate.delete.hook.machine.cluster.x-k8s.io", "WaitingForPreTerminateHook"),
];

/// The bootstrap configuration and the infrastructure of a Machine.
struct MachineParts {
    bootstrap: Option<Value>,
    infrastructure: Option<Value>,
}

impl MachineParts {
    fn of(reader: &ObjectReader<'_>, machine: &Value) -> Self {
        Self {
            bootstrap: referenced_object(reader, machine, "/spec/bootstrap/configRef"),
            infrastructure: referenced_object(reader, machine, "/spec/infrastructureRef"),
        }
    }
}

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    if is_deleting(live) {
        return plan_deletion(reader, live);
    }
    let mut plan = WritePlan::default();
    let mut machine = live.clone();
    add_finalizer(&mut machine, FINALIZER);
    set_label(&mut machine, CLUSTER_NAME, name(cluster));
    if owners(&machine).is_empty() {
        ensure_owner(&mut machine, owner_reference(cluster, false));
    }
    let parts = MachineParts::of(reader, live);
    for part in [&parts.bootstrap, &parts.infrastructure].into_iter().flatten() {
        plan.update(part, with_controller(part, live, cluster));
    }
    copy_bootstrap_data(reader, &mut machine, &parts);
    copy_infrastructure_status(reader, &mut machine, &parts);
    write_status(reader, &mut machine);
    plan.update(live, machine);
    plan
}

/// Makes the Machine the controller of a part and removes the owners that created the part before the Machine.
fn with_controller(part: &Value, machine: &Value, cluster: &Value) -> Value {
    let mut part = part.clone();
    if is_deleting(&part) {
        return part;
    }
    remove_owners(&mut part, &["MachineSet", "KubeadmControlPlane"]);
    ensure_owner(&mut part, owner_reference(machine, true));
    set_label(&mut part, CLUSTER_NAME, name(cluster));
    part
}

fn copy_bootstrap_data(reader: &ObjectReader<'_>, machine: &mut Value, parts: &MachineParts) {
    if let Some(part) = &parts.bootstrap {
        let ready =
            reader.contract(group(part), kind(part)).is_initialized(part, "ready", "dataSecretCreated");
        let secret = text(part, "/status/dataSecretName");
        if ready && !secret.is_empty() {
            set(machine, &["spec", "bootstrap", "dataSecretName"], json!(secret));
        }
    }
    if non_null(machine, "/spec/bootstrap/dataSecretName").is_some() {
        Contract::of(machine).set_initialized(machine, "bootstrapReady", "bootstrapDataSecretCreated");
    }
}

fn copy_infrastructure_status(reader: &ObjectReader<'_>, machine: &mut Value, parts: &MachineParts) {
    let Some(part) = &parts.infrastructure else { return };
    let provider_id = text(part, "/spec/providerID");
    if provider_id.is_empty() || !reader.contract(group(part), kind(part)).is_provisioned(part) {
        return;
    }
    set(machine, &["spec", "providerID"], json!(provider_id));
    if let Some(addresses) = non_null(part, "/status/addresses") {
        set(machine, &["status", "addresses"], addresses.clone());
    }
    Contract::of(machine).set_initialized(machine, "infrastructureReady", "infrastructureProvisioned");
    write_node(machine);
}

fn plan_deletion(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let mut machine = live.clone();
    match delete_next(reader, live, &mut plan) {
        Some(reason) => {
            let now = reader.now();
            set(&mut machine, &["status", "phase"], json!("Deleting"));
            set(&mut machine, &["status", "observedGeneration"], json!(generation(live)));
            let deleting = Condition::new("Deleting", true, reason);
            conditions::write(&mut machine, Contract::of(live), &[deleting], &[], &now);
        }
        None => remove_finalizer(&mut machine, FINALIZER),
    }
    plan.update(live, machine);
    plan
}

/// Returns the reason to wait: first hooks, then the infrastructure, then the bootstrap configuration.
fn delete_next(reader: &ObjectReader<'_>, machine: &Value, plan: &mut WritePlan) -> Option<&'static str> {
    for (hook, reason) in HOOKS {
        let mut keys = machine["metadata"]["annotations"].as_object().into_iter().flat_map(|all| all.keys());
        if keys.any(|key| key.starts_with(hook)) {
            return Some(reason);
        }
    }
    let parts = MachineParts::of(reader, machine);
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

/// Conditions of the control plane Pods.
const PODS: [&str; 4] =
    ["APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy", "EtcdPodHealthy"];

fn write_node(machine: &mut Value) {
    let name = name(machine);
    let node = match Contract::of(machine) {
        Contract::V1Beta1 => json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid(machine)}),
        Contract::V1Beta2 => json!({"name": name}),
    };
    let version = text(machine, "/spec/version");
    let info = json!({
        "architecture": "amd64", "bootID": uid(machine), "containerRuntimeVersion": "containerd://2.1.0",
        "kernelVersion": "6.12.0", "kubeProxyVersion": version, "kubeletVersion": version,
        "machineID": uid(machine), "operatingSystem": "linux", "osImage": "Sandbox", "systemUUID": uid(machine),
    });
    set(machine, &["status", "nodeRef"], node);
    set(machine, &["status", "nodeInfo"], info);
}

fn write_status(reader: &ObjectReader<'_>, machine: &mut Value) {
    let contract = Contract::of(machine);
    let bootstrap = contract.is_initialized(machine, "bootstrapReady", "bootstrapDataSecretCreated");
    let infrastructure = contract.is_initialized(machine, "infrastructureReady", "infrastructureProvisioned");
    let node = non_null(machine, "/status/nodeRef").is_some();
    let phase = match (bootstrap, infrastructure, node) {
        (_, _, true) => "Running",
        (_, true, _) => "Provisioned",
        (true, ..) => "Provisioning",
        _ => "Pending",
    };
    let now = reader.now();
    if text(machine, "/status/phase") != phase {
        set(machine, &["status", "lastUpdated"], json!(now));
    }
    set(machine, &["status", "phase"], json!(phase));
    set(machine, &["status", "observedGeneration"], json!(generation(machine)));
    let ready = bootstrap && infrastructure && node;
    let mut new = vec![
        Condition::positive("Available", "Available", ready),
        Condition::positive("Ready", "Ready", ready),
        Condition::positive("BootstrapConfigReady", "Ready", bootstrap),
        Condition::positive("InfrastructureReady", "Ready", infrastructure),
        node_condition("NodeHealthy", node, "Waiting for Cluster control plane to be initialized"),
        node_condition("NodeReady", node, "Waiting for Cluster control plane to be initialized"),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    if let Some(current) = is_up_to_date(reader, machine) {
        new.push(Condition::positive("UpToDate", "UpToDate", current));
    }
    let mut old = vec![
        legacy("Ready", ready, "WaitingForInfrastructure"),
        legacy("BootstrapReady", bootstrap, "WaitingForDataSecret"),
        legacy("InfrastructureReady", infrastructure, "WaitingForInfrastructure"),
        legacy("NodeHealthy", node, "WaitingForNodeRef"),
    ];
    if label(machine, IS_CONTROL_PLANE).is_some() {
        for kind in PODS {
            new.push(Condition::new(kind, node, if node { "Running" } else { "Provisioning" }));
            old.push(legacy(kind, node, "PodProvisioning"));
        }
        new.push(Condition::positive("EtcdMemberHealthy", "Healthy", node));
        old.push(legacy("EtcdMemberHealthy", node, "EtcdMemberUnhealthy"));
    }
    conditions::write(machine, contract, &new, &old, &now);
}

fn node_condition(kind: &'static str, node: bool, message: &str) -> Condition {
    if node {
        Condition::new(kind, true, kind)
    } else {
        Condition::new(kind, false, "InspectionFailed").with_message(message.to_owned())
    }
}

/// True if the owner of the Machine would create an equal Machine now: `None` if the Machine has no controller.
fn is_up_to_date(reader: &ObjectReader<'_>, machine: &Value) -> Option<bool> {
    let owner = controller(machine)?;
    let object = reader.get(&owner_ref(owner, namespace(machine)))?;
    match text(owner, "/kind") {
        "KubeadmControlPlane" => Some(control_plane::is_up_to_date(reader, &object, machine)),
        "MachineSet" => match controller(&object) {
            Some(owner) => {
                let deployment = reader.get(&owner_ref(owner, namespace(machine)))?;
                Some(deployment::is_current(reader, &deployment, &object))
            }
            None => Some(true),
        },
        _ => None,
    }
}
