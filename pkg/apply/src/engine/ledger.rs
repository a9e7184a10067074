//! The set while it is worked on.

use jiff::Timestamp;

use crate::{ApiError, ApplySet, FieldSet, Health, ObjectKey, Phase, Record, Status, Written};

/// A set, and what of it is recorded.
pub(super) struct Ledger<'a> {
    pub(super) set: &'a mut ApplySet,
    recorded: ApplySet,
    record: &'a dyn Record,
}

impl<'a> Ledger<'a> {
    /// What comes in counts as recorded.
    pub(super) fn open(set: &'a mut ApplySet, record: &'a dyn Record) -> Self {
        Self { recorded: set.clone(), set, record }
    }

    /// Records the set, when it is not what is recorded.
    pub(super) async fn keep(&mut self) -> Result<(), ApiError> {
        if *self.set != self.recorded {
            self.record.store(self.set).await?;
            self.recorded.clone_from(self.set);
        }
        Ok(())
    }

    /// The same where the record may go together with a Namespace: what cannot be kept any more is not missed then.
    pub(super) async fn keep_if_possible(&mut self) -> Result<(), ApiError> {
        match self.keep().await {
            Err(error) if error.is_not_found() || error.code() == Some(403) => Ok(()),
            kept => kept,
        }
    }

    /// An object was written, and this is what its manager owns of it now.
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

    /// An object was looked at.
    pub(super) fn saw(&mut self, key: &ObjectKey, status: &Status) {
        if let Some(item) = self.set.item_mut(key) {
            status.health.as_str().clone_into(&mut item.status);
            if status.is_ready() {
                item.phase = Phase::Ready;
            }
        }
    }

    /// An object was told to go.
    pub(super) fn going(&mut self, key: &ObjectKey) {
        if let Some(item) = self.set.item_mut(key) {
            item.phase = if item.is_purged() { Phase::Completing } else { Phase::Deleting };
            Health::Terminating.as_str().clone_into(&mut item.status);
        }
    }

    /// An object has done its work, and is to go.
    pub(super) fn complete(&mut self, key: &ObjectKey) {
        if let Some(item) = self.set.item_mut(key) {
            item.phase = Phase::ScheduledForCompletion;
        }
    }

    /// An object is gone: forgotten, unless that is what it was for.
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
    /// Whether it goes because it has done its work.
    pub(super) fn is_purged(&self) -> bool {
        matches!(self.phase, Phase::ScheduledForCompletion | Phase::Completing)
    }
}
