//! The status of a Machine: phase, node and conditions.

use serde_json::{Value, json};

use crate::controllers::cluster_api::{
    conditions::{self, Condition, legacy},
    contract::Contract,
    control_plane, deployment,
    object::{
        IS_CONTROL_PLANE, controller, generation, label, name, namespace, non_null, owner_ref, set, text, uid,
    },
    plan::ObjectReader,
};

/// Conditions of the control plane Pods.
const PODS: [&str; 4] =
    ["APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy", "EtcdPodHealthy"];

/// Writes the Node of a Machine to its status.
pub(super) fn write_node(machine: &mut Value) {
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

pub(super) fn write(reader: &ObjectReader<'_>, machine: &mut Value) {
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
