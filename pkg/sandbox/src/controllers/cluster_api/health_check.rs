//! MachineHealthChecks, whose targets never become unhealthy.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machinehealthcheck`.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::Contract,
    object::{
        CLUSTER_NAME, ensure_owner, generation, is_deleting, name, non_null, owner_reference, set, set_label,
    },
    plan::{ObjectReader, WritePlan, objects_of_cluster},
};
use crate::selector::LabelSelector;

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    if is_deleting(live) {
        return plan;
    }
    let mut check = live.clone();
    set_label(&mut check, CLUSTER_NAME, name(cluster));
    ensure_owner(&mut check, owner_reference(cluster, false));
    let machines = objects_of_cluster(reader, "Machine", cluster);
    let selector = LabelSelector::of_object(&live["spec"]["selector"]);
    let targets: Vec<&Value> = machines.iter().filter(|machine| selector.matches_object(machine)).collect();
    let healthy = targets.iter().filter(|machine| non_null(machine, "/status/nodeRef").is_some()).count();
    let names: Vec<&str> = targets.iter().map(|machine| name(machine)).collect();
    set(&mut check, &["status", "expectedMachines"], json!(targets.len()));
    set(&mut check, &["status", "currentHealthy"], json!(healthy));
    set(&mut check, &["status", "remediationsAllowed"], json!(targets.len()));
    set(&mut check, &["status", "targets"], json!(names));
    set(&mut check, &["status", "observedGeneration"], json!(generation(live)));
    let new = [
        Condition::new("RemediationAllowed", true, "RemediationAllowed"),
        Condition::activity("Paused", false),
    ];
    let old = [legacy("RemediationAllowed", true, "")];
    conditions::write(&mut check, Contract::of(live), &new, &old, &reader.now());
    plan.update(live, check);
    plan
}
