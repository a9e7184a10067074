//! Obstacles to a set as a whole: dropped objects that others need, and missing namespaces.

use std::collections::{BTreeMap, BTreeSet};

use super::{PlanError, PlanStage, PlanStep};
use crate::StepAction;
use crate::{
    ApplySetItem, DesiredObject, DesiredSet, LiveObjects, ManagedType, MissingNamespacePolicy, ObjectKey,
    Observation, order::apply_priority,
};

/// Returns definitions and namespaces that cannot be deleted, because a remaining object needs them.
pub(super) fn removal_conflicts(
    desired: &DesiredSet,
    items: &BTreeMap<&ObjectKey, &ApplySetItem>,
    removals: &[PlanStep],
) -> Vec<PlanError> {
    let goes = |step: &&PlanStep| step.action == StepAction::Delete;
    let mut impossible = Vec::new();
    for item in removals.iter().filter(goes).filter_map(|step| items.get(&step.key)) {
        let stays: Vec<_> = desired.objects.iter().filter(|object| needs(object, item, desired)).collect();
        let problem = match &stays[..] {
            [] => continue,
            [one] => format!("cannot be deleted while {} remains", one.key),
            [first, others @ ..] => {
                format!("cannot be deleted while {} and {} more remain", first.key, others.len())
            }
        };
        impossible.push(PlanError::Order { object: item.key.clone(), problem });
    }
    impossible
}

fn needs(object: &DesiredObject, item: &ApplySetItem, desired: &DesiredSet) -> bool {
    if item.key.is_namespace() {
        return object.key.namespace == item.key.name;
    }
    let kind = object.key.group_kind();
    let is_served = |managed: &ManagedType| managed.covers(&kind, &object.version);
    // Another definition of the set may define the kind.
    item.managed_types.iter().any(is_served)
        && !desired.objects.iter().flat_map(|definition| &definition.managed_types).any(is_served)
}

/// Returns a step for each missing namespace, by name. Writes need the namespace, the set does not include it, and it
/// does not exist or is terminating. Errors: all missing namespaces, if the policy forbids creating them.
pub(super) fn missing_namespaces(
    desired: &DesiredSet,
    writes: &[PlanStep],
    live: &LiveObjects,
    policy: MissingNamespacePolicy,
) -> Result<Vec<PlanStep>, Vec<PlanError>> {
    let declared: BTreeSet<_> = desired
        .objects
        .iter()
        .filter(|object| object.key.is_namespace())
        .map(|object| &*object.key.name)
        .collect();
    let mut needed: BTreeMap<&str, i16> = BTreeMap::new();
    for step in writes.iter().filter(|step| step.action.is_write() && !step.key.namespace.is_empty()) {
        let wave = needed.entry(&step.key.namespace).or_insert(step.wave);
        *wave = (*wave).min(step.wave);
    }
    needed.retain(|name, _| !declared.contains(name));
    let steps =
        needed.into_iter().filter_map(|(name, wave)| namespace_step(name, wave, live)).collect::<Vec<_>>();
    match policy {
        MissingNamespacePolicy::Refuse if !steps.is_empty() => Err(steps
            .into_iter()
            .map(|step| PlanError::MissingNamespace { namespace: step.key.name })
            .collect()),
        MissingNamespacePolicy::Create | MissingNamespacePolicy::Refuse => Ok(steps),
    }
}

fn namespace_step(name: &str, wave: i16, live: &LiveObjects) -> Option<PlanStep> {
    let key = ObjectKey::of_namespace(name);
    let (action, why) = match live.get(&key) {
        Observation::Absent => (StepAction::Create, "required by objects of the set"),
        Observation::Present(_) if live.is_terminating(&key) => (StepAction::Recreate, "is being deleted"),
        Observation::Present(_) | Observation::Unobserved => return None,
    };
    Some(PlanStep {
        priority: apply_priority(&key),
        key,
        action,
        wave,
        stage: PlanStage::Regular,
        purge_wave: None,
        unowned: true,
        why: Some(why.to_owned()),
    })
}
