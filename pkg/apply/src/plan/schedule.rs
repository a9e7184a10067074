//! The changes of a plan to the record of the set, before the first write.

use std::{collections::BTreeMap, mem};

use super::ApplyPlan;
use crate::{
    ApplySet, ApplySetItem, DesiredObject, DesiredSet, Health, ItemPhase, ObjectKey, PlannedSet, Policies,
    order::delete_priority,
};

impl ApplySetItem {
    fn new(key: ObjectKey) -> Self {
        Self { key, ..Self::default() }
    }

    fn deletion_key(&self) -> (i16, i8, &ObjectKey) {
        (self.delete_order, delete_priority(&self.key), &self.key)
    }

    /// Takes over the properties of a manifest.
    fn copy_policies(&mut self, desired: &DesiredObject) {
        let Policies { adoption, reconcile, update, delete } = desired.policies.policies;
        self.version.clone_from(&desired.version);
        self.adoption_policy = adoption;
        self.reconcile_policy = reconcile;
        self.update_policy = update;
        self.delete_policy = delete;
        self.apply_order = desired.policies.apply_order;
        self.delete_order = desired.policies.delete_order;
        self.managed_types.clone_from(&desired.managed_types);
        self.digest.clone_from(&desired.digest);
    }

    fn schedule(&mut self, phase: ItemPhase, health: Health) {
        self.phase = phase;
        health.as_str().clone_into(&mut self.status);
    }

    fn schedule_deletion(&mut self) {
        self.digest.clear();
        if self.phase != ItemPhase::Deleting {
            self.schedule(ItemPhase::ScheduledForDeletion, Health::Terminating);
        }
    }
}

impl PlannedSet {
    /// Returns the size of the smallest record of the set after its writes.
    pub fn record_bytes(&self) -> usize {
        let set = self.set.after_writes(&self.desired, &self.plan);
        serde_json::to_string(&set).map_or(0, |text| text.len())
    }
}

impl ApplySet {
    /// Notes the schedule of a plan. Writes are scheduled for application, removals for deletion. Policies and orders
    /// follow the manifests, and items are sorted in the order of deletion.
    ///
    /// A changed schedule must be stored before the first write. Otherwise an interrupted run could leave unknown
    /// objects, or an incomplete change that looks like the recorded one.
    pub(crate) fn schedule(&mut self, desired: &DesiredSet, plan: &ApplyPlan) {
        // A dropped namespace that stays may be missing and be created without an owner. That step concerns no item.
        let own = plan.steps.iter().filter(|step| !step.unowned);
        let steps: BTreeMap<_, _> = own.map(|step| (&step.key, step.action)).collect();
        let mut items: BTreeMap<_, _> =
            mem::take(&mut self.items).into_iter().map(|item| (item.key.clone(), item)).collect();
        for item in
            items.values_mut().filter(|item| steps.get(&item.key).is_some_and(|step| step.is_removal()))
        {
            item.schedule_deletion();
        }
        for object in &desired.objects {
            let item =
                items.entry(object.key.clone()).or_insert_with_key(|key| ApplySetItem::new(key.clone()));
            item.copy_policies(object);
            if steps.get(&object.key).is_some_and(|step| step.is_write()) {
                item.schedule(ItemPhase::ScheduledForApplication, Health::InProgress);
            }
        }
        self.items = items.into_values().collect();
        self.sort_for_deletion();
    }

    /// Returns the set after the writes of a plan, without the fields of its objects.
    fn after_writes(&self, desired: &DesiredSet, plan: &ApplyPlan) -> Self {
        let mut set = self.without_fields();
        set.schedule(desired, plan);
        for item in &mut set.items {
            item.owned.clone_from(&item.digest);
            item.last_applied_at = Some("0000-00-00T00:00:00Z".to_owned());
        }
        set
    }

    /// Schedules all items for deletion.
    pub(crate) fn schedule_deletion(&mut self) {
        self.items.iter_mut().for_each(ApplySetItem::schedule_deletion);
        self.sort_for_deletion();
    }

    fn sort_for_deletion(&mut self) {
        self.items.sort_by(|a, b| a.deletion_key().cmp(&b.deletion_key()));
    }
}
