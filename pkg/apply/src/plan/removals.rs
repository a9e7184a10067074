//! The removal of items that are no longer desired.

use super::{PlanStep, step_order::ManagedKinds};
use crate::StepAction;
use crate::{
    ApplyOptions, ApplySetItem, DeletePolicy, LiveObjects, ObjectKey, Observation, OwnershipMarks,
    live::is_terminating, order::delete_priority,
};

/// The rules for items that are no longer desired.
pub(super) struct Removals<'a> {
    pub(super) live: &'a LiveObjects,
    pub(super) marks: &'a OwnershipMarks,
    pub(super) options: &'a ApplyOptions,
    pub(super) managed: ManagedKinds<'a>,
    /// The policies that keep an object.
    pub(super) orphans: fn(DeletePolicy) -> bool,
}

impl Removals<'_> {
    /// Returns a step for each item, in their order.
    pub(super) fn steps<'i>(&self, items: impl Iterator<Item = &'i ApplySetItem>) -> Vec<PlanStep> {
        let (mut steps, items): (Vec<_>, Vec<_>) = items.map(|item| (self.step(item), item)).unzip();
        let staying: Vec<_> = steps
            .iter()
            .zip(&items)
            .filter(|(step, _)| step.action == StepAction::Orphan && self.may_exist(&step.key))
            .map(|(_, item)| *item)
            .collect();
        for (step, item) in steps.iter_mut().zip(&items).filter(|(step, _)| step.action == StepAction::Delete)
        {
            if let Some(needs) = staying.iter().find(|staying| depends_on(staying, item))
                && !self.live.is_terminating(&item.key)
            {
                step.action = StepAction::Orphan;
                step.why = Some(format!("kept, because {} would be deleted with it", needs.key));
            }
        }
        steps
    }

    fn step(&self, item: &ApplySetItem) -> PlanStep {
        let (action, why) = match self.live.get(&item.key) {
            Observation::Present(object)
                if !self.marks.owns_or_wrote(object, Some(item), &self.options.field_manager) =>
            {
                let owner = self.marks.owner_of(object);
                let why = owner.map_or("has no owner".to_owned(), |owner| format!("belongs to `{owner}`"));
                (StepAction::Orphan, Some(why))
            }
            _ if (self.orphans)(item.delete_policy) => (StepAction::Orphan, None),
            Observation::Absent => (StepAction::Delete, Some("already deleted".to_owned())),
            Observation::Present(_) | Observation::Unobserved => (StepAction::Delete, None),
        };
        PlanStep {
            key: item.key.clone(),
            action,
            wave: item.delete_order,
            stage: self.managed.stage(&item.key.group_kind(), &item.version),
            priority: delete_priority(&item.key),
            purge_wave: None,
            unowned: false,
            why,
        }
    }

    /// A terminating object cannot be saved by keeping its namespace or definition.
    fn may_exist(&self, key: &ObjectKey) -> bool {
        match self.live.get(key) {
            Observation::Present(object) => !is_terminating(object),
            Observation::Unobserved => true,
            Observation::Absent => false,
        }
    }
}

/// True if one item depends on another: on its Namespace, or on the definition of its kind.
fn depends_on(item: &ApplySetItem, other: &ApplySetItem) -> bool {
    let kind = item.key.group_kind();
    let is_inside = other.key.is_namespace() && item.key.namespace == other.key.name;
    is_inside || other.managed_types.iter().any(|managed| managed.covers(&kind, &item.version))
}
