//! The status of a MachineDeployment.
//!
//! As in the real controller, the counts come from conditions that MachineSets set later. Right after a change, the
//! status combines the new generation with the old counts.

use serde_json::{Value, json};

use crate::{
    controllers::cluster_api::{
        conditions::{self, Condition, legacy},
        contract::Contract,
        counts::MachineCounts,
        object::{DEPLOYMENT_NAME, desired_replicas, generation, label, name, set},
        plan::ObjectReader,
    },
    selector::LabelSelector,
};

pub(super) fn write(reader: &ObjectReader<'_>, object: &mut Value, machines: &[Value]) {
    let contract = Contract::of(object);
    let own: Vec<Value> = machines
        .iter()
        .filter(|machine| label(machine, DEPLOYMENT_NAME) == Some(name(object)))
        .cloned()
        .collect();
    let counts = MachineCounts::of(&own, desired_replicas(object));
    let older = ["availableReplicas", "readyReplicas", "unavailableReplicas", "updatedReplicas"];
    counts.write(object, contract, &older);
    let phase = match () {
        () if counts.is_scaling_up() || counts.ready < counts.desired => "ScalingUp",
        () if counts.is_scaling_down() => "ScalingDown",
        () => "Running",
    };
    set(object, &["status", "phase"], json!(phase));
    set(object, &["status", "observedGeneration"], json!(generation(object)));
    let selector = LabelSelector::of_object(&object["spec"]["selector"]).to_string();
    set(object, &["status", "selector"], json!(selector));
    let available = counts.is_available();
    let new = [
        Condition::positive("Available", "Available", available),
        counts.all_ready("MachinesReady"),
        counts.all_up_to_date("MachinesUpToDate"),
        Condition::activity("RollingOut", counts.is_rolling_out()),
        Condition::activity("ScalingUp", counts.is_scaling_up()),
        Condition::activity("ScalingDown", counts.is_scaling_down()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let old = [
        legacy("Ready", available, "WaitingForAvailableMachines"),
        legacy("Available", available, "WaitingForAvailableMachines"),
        legacy("MachineSetReady", available, "WaitingForMachineSet"),
    ];
    conditions::write(object, contract, &new, &old, &reader.now());
}
