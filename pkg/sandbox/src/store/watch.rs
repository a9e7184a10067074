//! Watches: readers of the history that wait for new changes.

use std::{pin::pin, sync::Arc};

use tokio::sync::Notify;

use super::{Change, Expired, Revision, Scope, state::Shared};

/// A reader of the changes in a scope, each once and in order. Stores only a position in the history.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    changed: Arc<Notify>,
    /// The scope; `None` means everything.
    scope: Option<Scope>,
    /// The last read revision.
    position: Revision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WatchEnd {
    /// The watch was too slow: unread changes were dropped.
    #[error(transparent)]
    Expired(#[from] Expired),
    #[error("the store was closed")]
    Closed,
}

impl Watch {
    pub(super) fn new(shared: &Arc<Shared>, scope: Option<Scope>, after: Revision) -> Result<Self, Expired> {
        let oldest = shared.read().oldest(scope.as_ref());
        if after < oldest {
            return Err(Expired { oldest });
        }
        let changed = shared.changes_of(scope.as_ref());
        Ok(Self { shared: Arc::clone(shared), changed, scope, position: after })
    }

    /// Returns the last read revision. After [`Watch::try_next`] found nothing, every change in the scope up to this
    /// revision was returned, so a bookmark may use it.
    pub(crate) fn position(&self) -> Revision {
        self.position
    }

    /// Waits for the next change. Cancel-safe: dropping the future loses no change.
    pub(crate) async fn next(&mut self) -> Result<Change, WatchEnd> {
        let notify = Arc::clone(&self.changed);
        loop {
            let mut changed = pin!(notify.notified());
            // Registers before the check, so that no change is missed between the check and the wait.
            changed.as_mut().enable();
            if let Some(change) = self.try_next()? {
                return Ok(change);
            }
            changed.await;
        }
    }

    /// Returns the next change, if one is pending.
    pub(crate) fn try_next(&mut self) -> Result<Option<Change>, WatchEnd> {
        if self.shared.is_closed() {
            return Err(WatchEnd::Closed);
        }
        let state = self.shared.read();
        if self.position < state.dropped(self.scope.as_ref()) {
            return Err(WatchEnd::Expired(Expired { oldest: state.oldest(self.scope.as_ref()) }));
        }
        let in_scope =
            |change: &&Change| self.scope.as_ref().is_none_or(|scope| scope.contains(&change.after.key));
        let change = state.changes(self.position).find(in_scope).cloned();
        let read = change.as_ref().map_or(state.revision(), |change| change.revision);
        // A watch may start at a future revision.
        self.position = self.position.max(read);
        Ok(change)
    }
}
