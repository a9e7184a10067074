//! The object store: a map with a revision counter and a history, like etcd.
//!
//! ```text
//! commit ─► journal (data directory) ─► current objects ─► history ─► watches, each with its position
//! ```
//!
//! - Objects are stored as their served JSON text, without `apiVersion` and `kind`. A get or a list copies no tree,
//!   and versions that differ only in name cost nothing.
//! - Commits are serialised; readers wait neither for the journal nor for each other. A list works on a copy of the map
//!   that shares all data, so a slow filter blocks no commit and no other reader.
//! - A list at an earlier revision (the later pages of a list) is the newest map with the history undone. If the
//!   history is too short, the list is [`Expired`], as after a compaction of etcd.
//! - Watches have no buffers: each stores a position in the history. A watch without pending changes never expires,
//!   regardless of changes to other resources.
//!
//! The content of a data directory and its durability are described in `journal`.
//!
//! Deliberately absent: leases, transactions over several keys, and reads of single objects at a revision.

mod directory;
mod journal;
mod objects;
mod record;
mod state;
mod types;
mod watch;

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use self::{
    directory::OpenError,
    journal::{JournalReport, TruncatedEnd},
};
pub(crate) use self::{
    directory::{DEFAULT_HISTORY, DirectoryOptions},
    types::{
        Change, CommitError, Draft, Expired, Key, ListOptions, Page, Precondition, ResourceName, Revision,
        Scope, StoredObject,
    },
    watch::{Watch, WatchEnd},
};
use self::{
    journal::Journal,
    state::{Shared, State},
};

/// All objects of one server.
///
/// Dropping the store ends its watches and releases its data directory.
#[derive(Debug)]
pub(crate) struct Store {
    shared: Arc<Shared>,
    /// Held during a whole commit: revisions are assigned, journaled and published in one order.
    journal: Mutex<Persistence>,
}

#[derive(Debug)]
enum Persistence {
    Memory,
    Directory(Journal),
    /// No storage any more, see [`Store::release`].
    Released,
}

impl Store {
    /// Creates an empty store without a data directory.
    ///
    /// `history` is the number of changes kept for watches and earlier lists. Older changes are dropped, and so are
    /// changes beyond 32 MiB in total.
    pub(crate) fn in_memory(history: usize) -> Self {
        Self::new(State::new(history), Persistence::Memory)
    }

    /// Opens a store in a directory, which belongs to this process for the lifetime of the store. Creates a missing
    /// directory.
    ///
    /// Revisions continue from the stored ones. The history reaches back as far as the journal.
    /// [`Store::journal_report`] describes the state of the journal.
    ///
    /// # Errors
    /// Fails if the directory is in use, damaged or inaccessible. The directory is then unchanged.
    pub(crate) fn open(directory: &Path, options: &DirectoryOptions) -> Result<Self, OpenError> {
        let (journal, state) = Journal::open(directory, options)?;
        Ok(Self::new(state, Persistence::Directory(journal)))
    }

    /// Returns the report about the data directory. `None` without a data directory.
    pub(crate) fn journal_report(&self) -> Option<JournalReport> {
        self.lock_journal().as_mut().map(|journal| journal.report().clone())
    }

    /// Returns the revision of the newest change.
    pub(crate) fn revision(&self) -> Revision {
        self.shared.read().revision()
    }

    /// Returns the current object.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<StoredObject>> {
        self.shared.read().get(key).cloned()
    }

    /// Returns the number of objects of a resource in all namespaces.
    pub(crate) fn count(&self, resource: &ResourceName) -> usize {
        self.shared.read().count(resource)
    }

    /// Returns the resources with objects, sorted.
    pub(crate) fn resources(&self) -> Vec<ResourceName> {
        self.shared.read().resources()
    }

    /// Creates an object ([`Precondition::Absent`]) or replaces one ([`Precondition::At`]).
    ///
    /// `draft` is called at most once, with the revision of the object. Other commits wait during the call, so `draft`
    /// should only insert the revision. `draft` must not commit.
    ///
    /// # Errors
    /// Fails if the current state differs from the expected one, or if the data directory rejects the change. The store
    /// is then unchanged, and the next commit gets the revision.
    pub(crate) fn commit_with(
        &self,
        key: &Key,
        expected: Precondition,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<StoredObject>, CommitError> {
        self.write(key, expected, false, draft)
    }

    /// Deletes the object with this revision. `draft` creates its last state with the revision of the deletion; see
    /// [`Store::commit_with`]. Returns the last state.
    pub(crate) fn delete(
        &self,
        key: &Key,
        at: Revision,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<StoredObject>, CommitError> {
        self.write(key, Precondition::At(at), true, draft)
    }

    /// Lists objects. The filter may be slow: it runs on a copy that shares the objects.
    pub(crate) fn list(&self, scope: &Scope, options: ListOptions<'_>) -> Result<Page, Expired> {
        let view = self.shared.read().view(scope, options.at)?;
        Ok(view.page(scope, &options))
    }

    pub(crate) fn watch(&self, scope: Scope, after: Revision) -> Result<Watch, Expired> {
        Watch::new(&self.shared, Some(scope), after)
    }

    pub(crate) fn watch_all(&self, after: Revision) -> Result<Watch, Expired> {
        Watch::new(&self.shared, None, after)
    }

    /// Drops the history before a revision, like a compaction of etcd. Lists and watches from earlier revisions are
    /// [`Expired`]. Watches that are up to date continue.
    pub(crate) fn compact(&self, before: Revision) {
        self.shared.write().compact(before);
    }

    /// Ends all current and future watches.
    pub(crate) fn close(&self) {
        self.shared.close();
    }

    /// Rejects further writes, ends all watches and releases the data directory, even if other owners still hold the
    /// store.
    pub(crate) fn release(&self) {
        self.close();
        *self.lock_journal() = Persistence::Released;
    }

    fn write(
        &self,
        key: &Key,
        expected: Precondition,
        deleted: bool,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<StoredObject>, CommitError> {
        let mut journal = self.lock_journal();
        let (before, revision) = {
            let state = self.shared.read();
            (state.get(key).cloned(), state.revision().next())
        };
        let key = match (expected, &before) {
            (Precondition::Absent, None) => self.shared.read().shared_key(key),
            (Precondition::Absent, Some(there)) => return Err(CommitError::Exists(Arc::clone(there))),
            (Precondition::At(_), None) => return Err(CommitError::Gone),
            (Precondition::At(at), Some(there)) if there.revision != at => {
                return Err(CommitError::Changed(Arc::clone(there)));
            }
            (Precondition::At(_), Some(there)) => there.key.clone(),
        };
        let after = Arc::new(StoredObject::new(key, revision, draft(revision)));
        let change = Change { revision, before, after: Arc::clone(&after), deleted };
        match &mut *journal {
            Persistence::Memory => {}
            Persistence::Directory(journal) => journal.append(&change).map_err(CommitError::Journal)?,
            Persistence::Released => {
                return Err(CommitError::Journal(io::Error::other("the server has stopped")));
            }
        }
        self.shared.apply(change);
        if let Some(journal) = journal.as_mut().filter(|journal| journal.is_long()) {
            self.replace_journal(journal);
        }
        Ok(after)
    }

    fn new(state: State, journal: Persistence) -> Self {
        Self { shared: Arc::new(Shared::new(state)), journal: Mutex::new(journal) }
    }

    fn replace_journal(&self, journal: &mut Journal) {
        let (revision, objects) = self.shared.read().snapshot();
        journal.replace(revision, &objects);
    }

    /// Locks the journal. A draft panics before any change, so a poisoned lock is safe to use.
    fn lock_journal(&self) -> MutexGuard<'_, Persistence> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Persistence {
    fn as_mut(&mut self) -> Option<&mut Journal> {
        match self {
            Self::Directory(journal) => Some(journal),
            Self::Memory | Self::Released => None,
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;
