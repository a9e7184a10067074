//! The status of a KubeadmControlPlane.

use serde_json::{Value, json};

use crate::controllers::cluster_api::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_infrastructure},
    counts::MachineCounts,
    object::{CLUSTER_NAME, IS_CONTROL_PLANE, desired_replicas, generation, name, non_null, set, text},
    plan::ObjectReader,
};

pub(super) fn write(reader: &ObjectReader<'_>, object: &mut Value, cluster: &Value, machines: &[Value]) {
    let contract = Contract::of(object);
    // Like the real controller, evaluates the Machines here, so that the counts match the observed generation.
    let up_to_date = machines.iter().filter(|machine| super::is_up_to_date(reader, object, machine)).count();
    let counts = MachineCounts { up_to_date, ..MachineCounts::of(machines, desired_replicas(object)) };
    let up = machines.iter().any(|machine| non_null(machine, "/status/nodeRef").is_some());
    let initialized = up || contract.is_initialized(object, "initialized", "controlPlaneInitialized");
    if initialized {
        contract.set_initialized(object, "initialized", "controlPlaneInitialized");
    }
    counts.write(object, contract, &["readyReplicas", "updatedReplicas", "unavailableReplicas"]);
    if contract == Contract::V1Beta1 {
        set(object, &["status", "ready"], json!(counts.ready > 0));
    }
    let selector = format!("{CLUSTER_NAME}={},{IS_CONTROL_PLANE}", name(cluster));
    set(object, &["status", "selector"], json!(selector));
    set(object, &["status", "observedGeneration"], json!(generation(object)));
    if let Some(version) = lowest_version(machines) {
        set(object, &["status", "version"], json!(version));
    }
    write_conditions(object, contract, &counts, initialized, has_infrastructure(cluster), &reader.now());
}

/// The lowest Kubernetes version of all Machines.
fn lowest_version(machines: &[Value]) -> Option<&str> {
    let versions = machines.iter().map(|machine| text(machine, "/spec/version")).filter(|it| !it.is_empty());
    versions.min_by_key(|version| {
        let numbers = version.trim_start_matches('v').split(['.', '-', '+']);
        numbers.map(|number| number.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>()
    })
}

fn write_conditions(
    object: &mut Value,
    contract: Contract,
    counts: &MachineCounts,
    initialized: bool,
    has_certificates: bool,
    now: &str,
) {
    let available = initialized && counts.available > 0;
    let healthy = |kind| Condition::positive(kind, "Healthy", available);
    let new = [
        Condition::positive("Available", "Available", available),
        Condition::positive("Initialized", "Initialized", initialized),
        Condition::positive("CertificatesAvailable", "Available", has_certificates),
        healthy("EtcdClusterHealthy"),
        healthy("ControlPlaneComponentsHealthy"),
        counts.all_ready("MachinesReady"),
        counts.all_up_to_date("MachinesUpToDate"),
        Condition::activity("RollingOut", counts.is_rolling_out()),
        Condition::activity("ScalingUp", counts.is_scaling_up()),
        Condition::activity("ScalingDown", counts.is_scaling_down()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let (made, resized) = (counts.replicas > 0, counts.replicas == counts.desired);
    let resize = if counts.is_scaling_up() { "ScalingUp" } else { "ScalingDown" };
    let all_ready = made && counts.ready == counts.replicas;
    let old = [
        legacy(
            "Ready",
            available && all_ready && resized && !counts.is_rolling_out(),
            "WaitingForKubeadmInit",
        ),
        legacy("Available", available, "WaitingForKubeadmInit"),
        legacy("CertificatesAvailable", has_certificates, "WaitingForClusterInfrastructure"),
        legacy("ControlPlaneComponentsHealthy", available, "ControlPlaneComponentsUnknown"),
        legacy("EtcdClusterHealthy", available, "EtcdClusterUnknown"),
        legacy("MachinesCreated", made, "WaitingForKubeadmInit"),
        legacy("MachinesReady", all_ready, "WaitingForKubeadmInit"),
        legacy("MachinesSpecUpToDate", !counts.is_rolling_out(), "RollingUpdateInProgress"),
        legacy("Resized", resized, resize),
    ];
    conditions::write(object, contract, &new, &old, now);
}
