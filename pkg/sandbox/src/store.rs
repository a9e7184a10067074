//! Where objects live: a map with a revision counter and a history, as etcd has.
//!
//! ```text
//! commit ─► journal (data directory) ─► map of the newest ─► history ─► watches read on from where they are
//! ```
//!
//! - Objects are kept as the JSON text they are served as, without `apiVersion` and `kind`: a get or a list copies no
//!   tree, and a version that differs in its name alone costs nothing.
//! - Commits take turns; readers never wait for the journal, nor for each other. A list works on a copy of the map
//!   that shares everything with it, so a slow filter holds nobody up.
//! - A list at an earlier revision (the later pages of a list) is the newest map with the history undone; when the
//!   history no longer reaches back, it is [`Expired`], as after a compaction of etcd.
//! - Watches have no buffers of their own: each remembers a place in the history. One that has nothing to fetch never
//!   falls off, however much happens to other resources.
//!
//! What a data directory holds, and what that survives, is told in `journal`.
//!
//! Deliberately absent: leases, transactions over several keys, and reads at a revision that only bring one object.

mod directory;
mod history;
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
    journal::{CutOff, JournalReport},
};
pub(crate) use self::{
    directory::{DEFAULT_HISTORY, DirectoryOptions},
    types::{
        Change, CommitError, Draft, Expected, Expired, Key, ListOptions, Page, ResourceName, Revision, Scope,
        Stored,
    },
    watch::{Watch, WatchEnd},
};
use self::{
    journal::Journal,
    state::{Shared, State},
};

/// All objects of one server.
///
/// Dropping it ends its watches and, with a data directory, leaves the directory to the next process.
#[derive(Debug)]
pub(crate) struct Store {
    shared: Arc<Shared>,
    /// Held for the whole of a commit: revisions are given out, journaled and made visible in one order.
    journal: Mutex<Keeping>,
}

#[derive(Debug)]
enum Keeping {
    Memory,
    Directory(Journal),
    /// Nowhere any more, see [`Store::leave`].
    Nowhere,
}

impl Store {
    /// Makes an empty store that ends with the process.
    ///
    /// `history` is how many changes are kept for watches and earlier lists; a change before that is given up, and
    /// so it is when the kept ones come to more than 32 MiB.
    pub(crate) fn in_memory(history: usize) -> Self {
        Self::new(State::new(history), Keeping::Memory)
    }

    /// Opens a store that lives in a directory, which belongs to this process as long as the store does. A directory
    /// that is not there is made.
    ///
    /// Revisions go on from where they were. The history reaches back as far as the journal does; see
    /// [`Store::journal_report`] for what was found.
    ///
    /// # Errors
    /// When the directory is in use, damaged or refused. Nothing in it has changed then.
    pub(crate) fn open(directory: &Path, options: &DirectoryOptions) -> Result<Self, OpenError> {
        let (journal, state) = Journal::open(directory, options)?;
        Ok(Self::new(state, Keeping::Directory(journal)))
    }

    /// What there is to tell about the data directory, if there is one.
    pub(crate) fn journal_report(&self) -> Option<JournalReport> {
        self.lock_journal().as_mut().map(|journal| journal.report().clone())
    }

    /// The revision of the newest change.
    pub(crate) fn revision(&self) -> Revision {
        self.shared.read().revision()
    }

    /// The object that is there now.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.shared.read().get(key).cloned()
    }

    /// How many objects of a resource there are, in all namespaces.
    pub(crate) fn count(&self, resource: &ResourceName) -> usize {
        self.shared.read().count(resource)
    }

    /// The resources that have objects, sorted.
    pub(crate) fn resources(&self) -> Vec<ResourceName> {
        self.shared.read().resources()
    }

    /// Creates an object ([`Expected::Absent`]) or replaces one ([`Expected::At`]).
    ///
    /// `draft` is called at most once, with the revision the object will have. It is called while other commits
    /// wait, so it should do no more than put the revision in its place, and it must not commit itself.
    ///
    /// # Errors
    /// When what is there is not what was expected, or the data directory did not take the change. Nothing has
    /// changed then, and the revision is given to the next commit.
    pub(crate) fn commit_with(
        &self,
        key: &Key,
        expected: Expected,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<Stored>, CommitError> {
        self.write(key, expected, false, draft)
    }

    /// Deletes the object of this revision. `draft` makes its last state, with the revision of the deletion; see
    /// [`Store::commit_with`]. Returns that last state.
    pub(crate) fn delete(
        &self,
        key: &Key,
        at: Revision,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<Stored>, CommitError> {
        self.write(key, Expected::At(at), true, draft)
    }

    /// Lists objects. The filter runs on a copy that shares the objects: it may take its time.
    pub(crate) fn list(&self, scope: &Scope, options: ListOptions<'_>) -> Result<Page, Expired> {
        let view = self.shared.read().view(scope, options.at)?;
        Ok(view.page(scope, &options))
    }

    /// Follows the changes in a scope that come after a revision.
    pub(crate) fn watch(&self, scope: Scope, after: Revision) -> Result<Watch, Expired> {
        Watch::new(&self.shared, Some(scope), after)
    }

    /// Follows all changes that come after a revision.
    pub(crate) fn watch_all(&self, after: Revision) -> Result<Watch, Expired> {
        Watch::new(&self.shared, None, after)
    }

    /// Gives up the history before a revision, as a compaction of etcd does: lists and watches from an earlier one are
    /// [`Expired`]. Watches that have caught up go on.
    pub(crate) fn compact(&self, before: Revision) {
        self.shared.write().compact(before);
    }

    /// Ends all watches, those to come as well.
    pub(crate) fn close(&self) {
        self.shared.close();
    }

    /// Takes no more writes, ends all watches, and leaves the data directory to the next who opens it, whoever still
    /// holds the store.
    pub(crate) fn leave(&self) {
        self.close();
        *self.lock_journal() = Keeping::Nowhere;
    }

    fn write(
        &self,
        key: &Key,
        expected: Expected,
        deleted: bool,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<Stored>, CommitError> {
        let mut journal = self.lock_journal();
        let (before, revision) = {
            let state = self.shared.read();
            (state.get(key).cloned(), state.revision().next())
        };
        let key = match (expected, &before) {
            (Expected::Absent, None) => self.shared.read().own(key),
            (Expected::Absent, Some(there)) => return Err(CommitError::Exists(Arc::clone(there))),
            (Expected::At(_), None) => return Err(CommitError::Gone),
            (Expected::At(at), Some(there)) if there.revision != at => {
                return Err(CommitError::Changed(Arc::clone(there)));
            }
            (Expected::At(_), Some(there)) => there.key.clone(),
        };
        let after = Arc::new(Stored::new(key, revision, draft(revision)));
        let change = Change { revision, before, after: Arc::clone(&after), deleted };
        match &mut *journal {
            Keeping::Memory => {}
            Keeping::Directory(journal) => journal.append(&change).map_err(CommitError::Journal)?,
            Keeping::Nowhere => return Err(CommitError::Journal(io::Error::other("the server has ended"))),
        }
        self.shared.apply(change);
        if let Some(journal) = journal.as_mut().filter(|journal| journal.is_long()) {
            self.replace_journal(journal);
        }
        Ok(after)
    }

    fn new(state: State, journal: Keeping) -> Self {
        Self { shared: Arc::new(Shared::new(state)), journal: Mutex::new(journal) }
    }

    fn replace_journal(&self, journal: &mut Journal) {
        let (revision, objects) = self.shared.read().snapshot();
        journal.replace(revision, &objects);
    }

    /// A panic in a draft comes before anything was changed, so it spoils nothing for the next commit.
    fn lock_journal(&self) -> MutexGuard<'_, Keeping> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keeping {
    fn as_mut(&mut self) -> Option<&mut Journal> {
        match self {
            Self::Directory(journal) => Some(journal),
            Self::Memory | Self::Nowhere => None,
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
