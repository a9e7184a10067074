//! Watches: readers of the history that wait when they have read it all.

use std::{pin::pin, sync::Arc};

use tokio::sync::Notify;

use super::{Change, Expired, Revision, Scope, state::Shared};

/// A reader of the changes in a scope, each once and in order. It holds a place in the history and nothing else.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    changed: Arc<Notify>,
    /// `None` is everything.
    scope: Option<Scope>,
    /// All up to here was read.
    position: Revision,
}

/// Why a watch gives no more changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WatchEnd {
    /// It was too slow: changes it has not read are no longer kept.
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

    /// The revision up to which it has read. Once [`Watch::try_next`] found nothing, nothing in the scope happened
    /// before it that was not returned: a bookmark may say so.
    pub(crate) fn position(&self) -> Revision {
        self.position
    }

    /// The next change, as soon as there is one. May be dropped while it waits; nothing is lost by that.
    pub(crate) async fn next(&mut self) -> Result<Change, WatchEnd> {
        let notify = Arc::clone(&self.changed);
        loop {
            let mut changed = pin!(notify.notified());
            // Before looking, so that a change right after the look is not slept through.
            changed.as_mut().enable();
            if let Some(change) = self.try_next()? {
                return Ok(change);
            }
            changed.await;
        }
    }

    /// The next change, if there is one already.
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
        // A watch may begin at a revision that is still to come.
        self.position = self.position.max(read);
        Ok(change)
    }
}
