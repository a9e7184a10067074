//! The record of applied objects.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    AdoptionPolicy, ApiError, DeletePolicy, FieldSet, GroupKind, ObjectKey, ReconcilePolicy, UpdatePolicy,
};

mod wire;

/// The set of applied objects and their remaining work. It is stored before the first object is written, and after the
/// last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplySet {
    /// The items, in the order of deletion.
    pub items: Vec<ApplySetItem>,
}

/// One object of an apply set.
/// Source: component-operator-runtime (inventory item); the JSON is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "wire::WireItem", into = "wire::WireItem")]
pub struct ApplySetItem {
    /// The key of the object.
    pub key: ObjectKey,
    /// The version in which the object was written.
    pub version: String,
    /// The adoption policy at the last write.
    pub adoption_policy: AdoptionPolicy,
    /// The reconcile policy at the last write.
    pub reconcile_policy: ReconcilePolicy,
    /// The update policy at the last write.
    pub update_policy: UpdatePolicy,
    /// The delete policy at the last write.
    pub delete_policy: DeletePolicy,
    /// The wave of the object.
    pub apply_order: i16,
    /// The wave of the object in a deletion.
    pub delete_order: i16,
    /// The kinds that the object defines.
    pub managed_types: Vec<ManagedType>,
    /// The digest of the manifest; empty if the object will be deleted.
    pub digest: String,
    /// The digest of the fields that the manager owned after the last write, see
    /// [`crate::OwnershipMarks::owned_fields`]; empty if the fields are unknown.
    pub owned: String,
    /// The fields of `owned`, to show which of them have changed; empty if the fields are unknown.
    pub owned_fields: FieldSet,
    /// The progress of the object.
    pub phase: ItemPhase,
    /// The health in a word of kstatus; empty if the health is unknown.
    pub status: String,
    /// The time of the last write, in RFC 3339 and UTC.
    pub last_applied_at: Option<String>,
}

/// Kinds that an object defines. Version and kind may be `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ManagedType {
    /// The API group.
    pub group: String,
    /// The version; `*` for all.
    pub version: String,
    /// The kind; `*` for all.
    pub kind: String,
}

/// The progress of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemPhase {
    /// The object will be written.
    #[default]
    ScheduledForApplication,
    /// The object was created and is not ready.
    Creating,
    /// The object was changed and is not ready.
    Updating,
    /// The object exists and is ready.
    Ready,
    /// The object has completed its work and will be deleted.
    ScheduledForCompletion,
    /// The object is being deleted after its work.
    Completing,
    /// The object has completed its work and is gone.
    Completed,
    /// The object will be deleted.
    ScheduledForDeletion,
    /// The object is being deleted.
    Deleting,
}

/// The storage of an apply set.
///
/// The engine stores the whole set before the first write, after each addition, and after the last write.
pub trait ApplySetStore: Send + Sync {
    /// Stores the set; returns when the set is durable.
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>>;
}

impl ManagedType {
    /// True if this type defines the kind in this version.
    pub fn covers(&self, kind: &GroupKind, version: &str) -> bool {
        self.group == kind.group
            && (self.kind == "*" || self.kind == kind.kind)
            && (self.version == "*" || self.version == version)
    }
}

impl ApplySetItem {
    /// True if the object was written, so an existing object with its name is no stranger. An item that was only
    /// scheduled, for application or for deletion, proves nothing.
    pub(crate) fn was_written(&self) -> bool {
        let was_scheduled =
            matches!(self.phase, ItemPhase::ScheduledForApplication | ItemPhase::ScheduledForDeletion);
        self.last_applied_at.is_some() || !was_scheduled
    }
}

impl ApplySet {
    /// Returns the item of an object.
    pub fn item(&self, key: &ObjectKey) -> Option<&ApplySetItem> {
        self.items.iter().find(|item| item.key == *key)
    }

    /// Returns the item of an object for changes.
    pub fn item_mut(&mut self, key: &ObjectKey) -> Option<&mut ApplySetItem> {
        self.items.iter_mut().find(|item| item.key == *key)
    }

    /// Returns the set without the fields of its objects, for a record that would become too large.
    #[must_use]
    pub fn without_fields(&self) -> Self {
        let items = self.items.iter().cloned();
        Self { items: items.map(|item| ApplySetItem { owned_fields: FieldSet::default(), ..item }).collect() }
    }

    /// Removes the item of an object.
    pub fn remove(&mut self, key: &ObjectKey) {
        self.items.retain(|item| item.key != *key);
    }
}

#[cfg(test)]
mod tests;
