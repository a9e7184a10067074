//! The status of a MachineDeployment.
//!
//! As in the real controller, the counts come from conditions that MachineSets set later. Right after a change, the
//! status combines the new generation with the old counts.

use serde_json::{Value, json};

use crate::{
    controllers::cluster_api::{
        conditions::{self, Condition, legacy},
        contract::Contract,
        counts::Counts,
        object::{DEPLOYMENT_NAME, generation, label, name, set, wanted_replicas},
        world::World,
    },
    selector::LabelSelector,
};

pub(super) fn write(world: &World<'_>, object: &mut Value, machines: &[Value]) {
    let contract = Contract::of(object);
    let own: Vec<Value> = machines
        .iter()
        .filter(|machine| label(machine, DEPLOYMENT_NAME) == Some(name(object)))
        .cloned()
        .collect();
    let counts = Counts::of(&own, wanted_replicas(object));
    let older = ["availableReplicas", "readyReplicas", "unavailableReplicas", "updatedReplicas"];
    counts.write(object, contract, &older);
    let phase = match () {
        () if counts.grows() || counts.ready < counts.wanted => "ScalingUp",
        () if counts.shrinks() => "ScalingDown",
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
        Condition::activity("RollingOut", counts.rolls()),
        Condition::activity("ScalingUp", counts.grows()),
        Condition::activity("ScalingDown", counts.shrinks()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let old = [
        legacy("Ready", available, "WaitingForAvailableMachines"),
        legacy("Available", available, "WaitingForAvailableMachines"),
        legacy("MachineSetReady", available, "WaitingForMachineSet"),
    ];
    conditions::write(object, contract, &new, &old, &world.now());
}
