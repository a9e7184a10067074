//! What was applied, as it is recorded.

use std::{collections::BTreeMap, mem};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    AdoptionPolicy, ApiError, DeletePolicy, Desired, DesiredSet, FieldSet, GroupKind, Health, ObjectKey,
    Plan, Policies, ReconcilePolicy, UpdatePolicy, order::delete_priority,
};

mod wire;

/// Exactly what was applied, and what is still to be done about it: written before the first object and after the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplySet {
    /// In the order of deletion.
    pub items: Vec<Item>,
}

/// One object of an apply set.
/// Source: component-operator-runtime (inventory item); the JSON is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "wire::Item", into = "wire::Item")]
pub struct Item {
    /// Which object.
    pub key: ObjectKey,
    /// The version it was written in.
    pub version: String,
    /// As they were when it was written last.
    pub adoption_policy: AdoptionPolicy,
    /// See `adoption_policy`.
    pub reconcile_policy: ReconcilePolicy,
    /// See `adoption_policy`.
    pub update_policy: UpdatePolicy,
    /// See `adoption_policy`.
    pub delete_policy: DeletePolicy,
    /// Its wave.
    pub apply_order: i16,
    /// Its wave when things are deleted.
    pub delete_order: i16,
    /// The kinds it defines.
    pub managed_types: Vec<ManagedType>,
    /// The digest of its manifest; empty when it is to go.
    pub digest: String,
    /// The digest of the fields its manager owned after the last write, see [`crate::owned_fields`]; empty when that is
    /// not known.
    pub owned: String,
    /// The same fields themselves, to tell which of them have changed; empty when that is not known.
    pub owned_fields: FieldSet,
    /// How far it is.
    pub phase: Phase,
    /// Its health in a word of kstatus; empty when there is none.
    pub status: String,
    /// When it was written last, in RFC 3339 and UTC.
    pub last_applied_at: Option<String>,
}

/// Kinds that an object brings into being. Version and kind may be `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ManagedType {
    /// The API group.
    pub group: String,
    /// The version, `*` for all.
    pub version: String,
    /// The kind, `*` for all.
    pub kind: String,
}

/// How far an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It will be written.
    #[default]
    ScheduledForApplication,
    /// It was created and is not ready.
    Creating,
    /// It was changed and is not ready.
    Updating,
    /// It is there and ready.
    Ready,
    /// It has done its work and will be deleted.
    ScheduledForCompletion,
    /// It is being deleted after its work.
    Completing,
    /// It has done its work and is gone.
    Completed,
    /// It will be deleted.
    ScheduledForDeletion,
    /// It is being deleted.
    Deleting,
}

/// Where an apply set is kept.
///
/// The engine calls it before the first write, whenever something was added, and after the last write; what it is given
/// is the whole set.
pub trait Record: Send + Sync {
    /// Keeps the set; returns when it is safe.
    fn store<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>>;
}

impl ManagedType {
    /// Whether objects of a kind in a version are brought into being.
    pub fn covers(&self, kind: &GroupKind, version: &str) -> bool {
        self.group == kind.group
            && (self.kind == "*" || self.kind == kind.kind)
            && (self.version == "*" || self.version == version)
    }
}

impl Item {
    fn new(key: ObjectKey) -> Self {
        Self { key, ..Self::default() }
    }

    fn deletion_place(&self) -> (i16, i8, &ObjectKey) {
        (self.delete_order, delete_priority(&self.key), &self.key)
    }

    /// Whether it was written, so that what is there under its name is no stranger. One that was only scheduled, for
    /// application or for deletion, tells nothing.
    pub(crate) fn was_written(&self) -> bool {
        let was_scheduled =
            matches!(self.phase, Phase::ScheduledForApplication | Phase::ScheduledForDeletion);
        self.last_applied_at.is_some() || !was_scheduled
    }

    /// Takes over what a manifest says.
    fn follow(&mut self, desired: &Desired) {
        let Policies { adoption, reconcile, update, delete } = desired.policies.policies;
        self.version.clone_from(&desired.version);
        self.adoption_policy = adoption;
        self.reconcile_policy = reconcile;
        self.update_policy = update;
        self.delete_policy = delete;
        self.apply_order = desired.policies.apply_order;
        self.delete_order = desired.policies.delete_order;
        self.managed_types.clone_from(&desired.defines);
        self.digest.clone_from(&desired.digest);
    }

    fn schedule(&mut self, phase: Phase, health: Health) {
        self.phase = phase;
        health.as_str().clone_into(&mut self.status);
    }

    fn schedule_deletion(&mut self) {
        self.digest.clear();
        if self.phase != Phase::Deleting {
            self.schedule(Phase::ScheduledForDeletion, Health::Terminating);
        }
    }
}

impl ApplySet {
    /// The item of an object.
    pub fn item(&self, key: &ObjectKey) -> Option<&Item> {
        self.items.iter().find(|item| item.key == *key)
    }

    /// The same, for writing.
    pub fn item_mut(&mut self, key: &ObjectKey) -> Option<&mut Item> {
        self.items.iter_mut().find(|item| item.key == *key)
    }

    /// The same set without the fields of its objects, for a record that would become too large.
    #[must_use]
    pub fn without_fields(&self) -> Self {
        let items = self.items.iter().cloned();
        Self { items: items.map(|item| Item { owned_fields: FieldSet::default(), ..item }).collect() }
    }

    /// Takes an object out.
    pub fn forget(&mut self, key: &ObjectKey) {
        self.items.retain(|item| item.key != *key);
    }

    /// Notes what a plan is going to do: what it writes is scheduled for application, what it removes for deletion, and
    /// policies and orders become those of the manifests. Items are put in the order of deletion.
    ///
    /// What is different then must be stored before the first write. Otherwise a run that was cut off could leave objects
    /// nobody knows of, or a half-written change that looks like the recorded one.
    pub(crate) fn schedule(&mut self, desired: &DesiredSet, plan: &Plan) {
        // A namespace that was dropped and stays may be missing, and made for nobody: that step is about no item.
        let own = plan.steps.iter().filter(|step| !step.unowned);
        let steps: BTreeMap<_, _> = own.map(|step| (&step.key, step.action)).collect();
        let mut items: BTreeMap<_, _> =
            mem::take(&mut self.items).into_iter().map(|item| (item.key.clone(), item)).collect();
        for item in items.values_mut().filter(|item| steps.get(&item.key).is_some_and(|step| step.removes()))
        {
            item.schedule_deletion();
        }
        for object in &desired.objects {
            let item = items.entry(object.key.clone()).or_insert_with_key(|key| Item::new(key.clone()));
            item.follow(object);
            if steps.get(&object.key).is_some_and(|step| step.writes()) {
                item.schedule(Phase::ScheduledForApplication, Health::InProgress);
            }
        }
        self.items = items.into_values().collect();
        self.sort_for_deletion();
    }

    /// Notes that all of it is to be deleted.
    pub(crate) fn schedule_deletion(&mut self) {
        self.items.iter_mut().for_each(Item::schedule_deletion);
        self.sort_for_deletion();
    }

    fn sort_for_deletion(&mut self) {
        self.items.sort_by(|a, b| a.deletion_place().cmp(&b.deletion_place()));
    }
}

#[cfg(test)]
mod tests;
