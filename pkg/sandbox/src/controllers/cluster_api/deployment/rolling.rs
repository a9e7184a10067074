//! Scaling of MachineSets during a rollout.
//!
//! Source: Cluster API v1.14 `machinedeployment_rollout_rollingupdate.go`: at most `maxSurge` additional Machines, and
//! at most `maxUnavailable` missing Machines.

use serde_json::{Value, json};

use super::{DESIRED_REPLICAS, DISABLE_MACHINE_CREATE, update_in_place};
use crate::controllers::cluster_api::{
    contract::Contract,
    object::{desired_replicas, is_deleting, name, number, set, text, unset},
    plan::WritePlan,
    rollout::resolve_count,
};

/// The rollout strategy of a MachineDeployment.
struct Strategy {
    on_delete: bool,
    surge: usize,
    unavailable: usize,
}

impl Strategy {
    fn of(deployment: &Value, desired: usize) -> Self {
        let at = match Contract::of(deployment) {
            Contract::V1Beta1 => "/spec/strategy",
            Contract::V1Beta2 => "/spec/rollout/strategy",
        };
        let limit = |field: &str| deployment.pointer(&format!("{at}/rollingUpdate/{field}"));
        let unavailable = resolve_count(limit("maxUnavailable"), 0, desired, false);
        let surge = resolve_count(limit("maxSurge"), 1, desired, true);
        // If both are zero, the rollout cannot proceed.
        let surge = if surge == 0 && unavailable == 0 { 1 } else { surge };
        Self { on_delete: text(deployment, &format!("{at}/type")) == "OnDelete", surge, unavailable }
    }
}

/// The number of existing and requested Machines; Machines in deletion count until they are removed.
fn total(sets: &[Value]) -> usize {
    sets.iter().map(|set| desired_replicas(set).max(count(set, "/status/replicas"))).sum()
}

/// The replicas of a new MachineSet.
pub(super) fn initial_replicas(deployment: &Value, sets: &[Value]) -> usize {
    let wanted = desired_replicas(deployment);
    let strategy = Strategy::of(deployment, wanted);
    let room = if strategy.on_delete { wanted } else { wanted + strategy.surge };
    room.saturating_sub(total(sets)).min(wanted)
}

/// Plans one step of the rollout from the older MachineSets to the current one.
pub(super) fn scale(deployment: &Value, current: &Value, sets: &[Value], plan: &mut WritePlan) {
    let wanted = desired_replicas(deployment);
    let strategy = Strategy::of(deployment, wanted);
    let old: Vec<&Value> =
        sets.iter().filter(|set| name(set) != name(current) && !is_deleting(set)).collect();
    let (now, all) = (desired_replicas(current), total(sets));
    let room = if strategy.on_delete { wanted } else { wanted + strategy.surge }.saturating_sub(all);
    let target = if now < wanted { (now + room).min(wanted) } else { wanted };
    resize(deployment, current, target, true, plan);
    if strategy.on_delete {
        for set in old {
            // The replicas follow manual deletions of Machines.
            let left = count(set, "/status/replicas");
            resize(deployment, set, desired_replicas(set).min(left), false, plan);
        }
        return;
    }
    let available = |set: &Value| match Contract::of(set) {
        Contract::V1Beta1 => count(set, "/status/v1beta2/availableReplicas"),
        Contract::V1Beta2 => count(set, "/status/availableReplicas"),
    };
    let needed = wanted.saturating_sub(strategy.unavailable);
    let not_up = now.saturating_sub(available(current));
    let desired: usize = sets.iter().map(desired_replicas).sum();
    let mut spare = desired.saturating_sub(needed + not_up);
    for set in old {
        let size = desired_replicas(set);
        let less = size.min(spare);
        spare -= less;
        resize(deployment, set, size - less, false, plan);
    }
}

fn count(object: &Value, pointer: &str) -> usize {
    number(object, pointer).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

fn resize(deployment: &Value, machine_set: &Value, replicas: usize, is_current: bool, plan: &mut WritePlan) {
    let mut resized = machine_set.clone();
    set(&mut resized, &["spec", "replicas"], json!(replicas));
    let desired = json!(desired_replicas(deployment).to_string());
    set(&mut resized, &["metadata", "annotations", DESIRED_REPLICAS], desired);
    let on_delete = Strategy::of(deployment, 0).on_delete;
    if !is_current && on_delete {
        set(&mut resized, &["metadata", "annotations", DISABLE_MACHINE_CREATE], json!("true"));
    } else {
        unset(&mut resized, &["metadata", "annotations", DISABLE_MACHINE_CREATE]);
    }
    if is_current {
        update_in_place(deployment, &mut resized);
    }
    plan.update(machine_set, resized);
}

/// Deletes empty older MachineSets; contract v1beta1 keeps `revisionHistoryLimit` MachineSets for a rollback.
pub(super) fn clean_up(deployment: &Value, current: Option<&Value>, sets: &[Value], plan: &mut WritePlan) {
    let Some(current) = current else { return };
    let empty = |set: &&Value| {
        name(set) != name(current) && desired_replicas(set) == 0 && count(set, "/status/replicas") == 0
    };
    let empty: Vec<&Value> = sets.iter().filter(empty).collect();
    let kept = match Contract::of(deployment) {
        Contract::V1Beta1 => number(deployment, "/spec/revisionHistoryLimit").unwrap_or(1),
        Contract::V1Beta2 => 0,
    };
    let surplus = empty.len().saturating_sub(usize::try_from(kept).unwrap_or(0));
    for set in &empty[..surplus] {
        plan.delete(set);
    }
}
