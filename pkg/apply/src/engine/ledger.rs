//! The apply set during a run.

use jiff::Timestamp;

use crate::{ApiError, ApplySet, FieldSet, Health, ObjectKey, Phase, Record, Status, Written};

/// The set, and its recorded state.
pub(super) struct Ledger<'a> {
    pub(super) set: &'a mut ApplySet,
    recorded: ApplySet,
    record: &'a dyn Record,
}

impl<'a> Ledger<'a> {
    /// Opens the ledger; the given set counts as recorded.
    pub(super) fn open(set: &'a mut ApplySet, record: &'a dyn Record) -> Self {
        Self { recorded: set.clone(), set, record }
    }

    /// Records the set if it differs from the record.
    pub(super) async fn keep(&mut self) -> Result<(), ApiError> {
        if *self.set != self.recorded {
            self.record.store(self.set).await?;
            self.recorded.clone_from(self.set);
        }
        Ok(())
    }

    /// Records the set if it differs from the record. Ignores a record that disappears together with its Namespace.
    pub(super) async fn keep_if_possible(&mut self) -> Result<(), ApiError> {
        match self.keep().await {
            Err(error) if error.is_not_found() || error.code() == Some(403) => Ok(()),
            kept => kept,
        }
    }

    /// Notes a write of an object, and the fields that its manager owns now.
    pub(super) fn wrote(&mut self, key: &ObjectKey, how: Written, owned: FieldSet, status: &Status) {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        if let Some(item) = self.set.item_mut(key) {
            item.phase = if how == Written::Created { Phase::Creating } else { Phase::Updating };
            item.last_applied_at = Some(now);
            item.owned = owned.digest();
            item.owned_fields = owned;
        }
        self.saw(key, status);
    }

    /// Notes the status of an object.
    pub(super) fn saw(&mut self, key: &ObjectKey, status: &Status) {
        if let Some(item) = self.set.item_mut(key) {
            status.health.as_str().clone_into(&mut item.status);
            if status.is_ready() {
                item.phase = Phase::Ready;
            }
        }
    }

    /// Notes that the deletion of an object was requested.
    pub(super) fn going(&mut self, key: &ObjectKey) {
        if let Some(item) = self.set.item_mut(key) {
            item.phase = if item.is_purged() { Phase::Completing } else { Phase::Deleting };
            Health::Terminating.as_str().clone_into(&mut item.status);
        }
    }

    /// Notes that an object has completed its work and will be deleted.
    pub(super) fn complete(&mut self, key: &ObjectKey) {
        if let Some(item) = self.set.item_mut(key) {
            item.phase = Phase::ScheduledForCompletion;
        }
    }

    /// Notes that an object is gone. The item is removed, except for an object that has completed its work.
    pub(super) fn gone(&mut self, key: &ObjectKey) {
        match self.set.item_mut(key) {
            Some(item) if item.is_purged() => {
                item.phase = Phase::Completed;
                item.status.clear();
            }
            _ => self.set.forget(key),
        }
    }
}

impl crate::Item {
    /// True if the object is deleted because it has completed its work.
    pub(super) fn is_purged(&self) -> bool {
        matches!(self.phase, Phase::ScheduledForCompletion | Phase::Completing)
    }
}
