//! The apply set during a run.

use jiff::Timestamp;

use crate::{ApiError, ApplySet, ApplySetStore, FieldSet, Health, ItemPhase, ObjectKey, Status, Written};

/// The set, and its recorded state.
pub(super) struct Recorder<'a> {
    pub(super) set: &'a mut ApplySet,
    saved: ApplySet,
    store: &'a dyn ApplySetStore,
}

impl<'a> Recorder<'a> {
    /// Opens the ledger; the given set counts as recorded.
    pub(super) fn open(set: &'a mut ApplySet, record: &'a dyn ApplySetStore) -> Self {
        Self { saved: set.clone(), set, store: record }
    }

    /// Records the set if it differs from the record.
    pub(super) async fn save(&mut self) -> Result<(), ApiError> {
        if *self.set != self.saved {
            self.store.save(self.set).await?;
            self.saved.clone_from(self.set);
        }
        Ok(())
    }

    /// Records the set if it differs from the record. Ignores a record that disappears together with its Namespace.
    pub(super) async fn save_if_possible(&mut self) -> Result<(), ApiError> {
        match self.save().await {
            Err(error) if error.is_not_found() || error.is_forbidden() => Ok(()),
            kept => kept,
        }
    }

    /// Notes a write of an object, and the fields that its manager owns now.
    pub(super) fn record_write(&mut self, key: &ObjectKey, how: Written, owned: FieldSet, status: &Status) {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        if let Some(item) = self.set.item_mut(key) {
            item.phase = if how == Written::Created { ItemPhase::Creating } else { ItemPhase::Updating };
            item.last_applied_at = Some(now);
            item.owned = owned.digest();
            item.owned_fields = owned;
        }
        self.record_status(key, status);
    }

    /// Notes the status of an object.
    pub(super) fn record_status(&mut self, key: &ObjectKey, status: &Status) {
        if let Some(item) = self.set.item_mut(key) {
            status.health.as_str().clone_into(&mut item.status);
            if status.is_ready() {
                item.phase = ItemPhase::Ready;
            }
        }
    }

    /// Notes that the deletion of an object was requested.
    pub(super) fn record_termination(&mut self, key: &ObjectKey) {
        if let Some(item) = self.set.item_mut(key) {
            item.phase = if item.is_purged() { ItemPhase::Completing } else { ItemPhase::Deleting };
            Health::Terminating.as_str().clone_into(&mut item.status);
        }
    }

    /// Notes that an object has completed its work and will be deleted.
    pub(super) fn schedule_completion(&mut self, key: &ObjectKey) {
        if let Some(item) = self.set.item_mut(key) {
            item.phase = ItemPhase::ScheduledForCompletion;
        }
    }

    /// Notes that an object no longer exists. The item is removed, except for an object that has completed its work.
    pub(super) fn record_deletion(&mut self, key: &ObjectKey) {
        match self.set.item_mut(key) {
            Some(item) if item.is_purged() => {
                item.phase = ItemPhase::Completed;
                item.status.clear();
            }
            _ => self.set.remove(key),
        }
    }
}

impl crate::ApplySetItem {
    /// True if the object is deleted because it has completed its work.
    pub(super) fn is_purged(&self) -> bool {
        matches!(self.phase, ItemPhase::ScheduledForCompletion | ItemPhase::Completing)
    }
}
