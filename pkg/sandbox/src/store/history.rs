//! The latest changes, oldest first.

use std::collections::{VecDeque, vec_deque};

use super::{Change, Revision};

/// The maximum total size of kept bodies, in bytes: a hundred versions of a large custom resource definition outweigh
/// everything else.
const MAX_BYTES: usize = 32 << 20;

/// A bounded sequence of consecutive changes.
#[derive(Debug)]
pub(super) struct History {
    changes: VecDeque<Change>,
    max_changes: usize,
    bytes: usize,
}

impl History {
    pub(super) fn new(most_changes: usize) -> Self {
        Self { changes: VecDeque::new(), max_changes: most_changes, bytes: 0 }
    }

    pub(super) fn push(&mut self, change: Change) {
        self.bytes += change.after.body.len();
        self.changes.push_back(change);
    }

    /// Removes and returns the oldest change if the history is too long.
    pub(super) fn pop_excess(&mut self) -> Option<Change> {
        let is_heavy = self.bytes > MAX_BYTES && self.changes.len() > 1;
        let is_excess = is_heavy || self.changes.len() > self.max_changes;
        if is_excess { self.pop() } else { None }
    }

    /// Removes and returns the oldest change if it is not later than this revision.
    pub(super) fn pop_until(&mut self, revision: Revision) -> Option<Change> {
        let is_old = self.changes.front().is_some_and(|change| change.revision <= revision);
        if is_old { self.pop() } else { None }
    }

    /// Returns the kept changes after a revision.
    pub(super) fn after(&self, revision: Revision) -> vec_deque::Iter<'_, Change> {
        let first = self.changes.front().map_or(0, |change| change.revision.0);
        let known = revision.next().0.saturating_sub(first);
        let start = usize::try_from(known).unwrap_or(usize::MAX).min(self.changes.len());
        self.changes.range(start..)
    }

    fn pop(&mut self) -> Option<Change> {
        let change = self.changes.pop_front()?;
        self.bytes -= change.after.body.len();
        Some(change)
    }
}
