//! What was applied, as it is recorded.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    AdoptionPolicy, ApiError, DeletePolicy, FieldSet, GroupKind, ObjectKey, ReconcilePolicy, UpdatePolicy,
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
    /// Whether it was written, so that what is there under its name is no stranger. One that was only scheduled, for
    /// application or for deletion, tells nothing.
    pub(crate) fn was_written(&self) -> bool {
        let was_scheduled =
            matches!(self.phase, Phase::ScheduledForApplication | Phase::ScheduledForDeletion);
        self.last_applied_at.is_some() || !was_scheduled
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
}

#[cfg(test)]
mod tests;
