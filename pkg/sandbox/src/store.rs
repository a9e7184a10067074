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
mod watch;

use std::{
    cmp::Ordering,
    fmt, io,
    num::NonZeroUsize,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;

pub(crate) use self::{
    directory::DirectoryOptions,
    watch::{Watch, WatchEnd},
};
pub use self::{
    directory::OpenError,
    journal::{CutOff, JournalReport},
};
use self::{
    journal::Journal,
    objects::Place,
    state::{Shared, State},
};

/// A history that lets clients miss some minutes of a busy server.
pub(crate) const DEFAULT_HISTORY: usize = 10_000;

/// All objects of one server.
///
/// Dropping it ends its watches and, with a data directory, leaves the directory to the next process.
#[derive(Debug)]
pub(crate) struct Store {
    shared: Arc<Shared>,
    /// Held for the whole of a commit: revisions are given out, journaled and made visible in one order.
    journal: Mutex<Keeping>,
}

/// Where commits are kept.
#[derive(Debug)]
enum Keeping {
    Memory,
    Directory(Journal),
    /// Nowhere any more, see [`Store::leave`].
    Nowhere,
}

/// A position in the history: each change makes the next one. `metadata.resourceVersion` is its decimal form.
///
/// An empty store is at 1, as an empty etcd is: 0 has a meaning of its own for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Revision(pub u64);

/// The name of a stored resource, whatever the version: group and plural.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceName {
    /// The API group; empty for core.
    pub group: Arc<str>,
    /// The plural, such as `deployments`.
    pub plural: Arc<str>,
}

/// Where an object is. Keys sort as lists do, see [`Page::items`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// What it is.
    pub resource: ResourceName,
    /// Empty for objects of the cluster.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// An object as it is stored. Never changed: an update makes another one.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Where it is.
    pub key: Key,
    /// When it was written.
    pub revision: Revision,
    /// The API version (without the group) it was written in.
    pub version: Arc<str>,
    /// The generation of the custom resource definition it was pruned and defaulted by; 0 for built-in kinds.
    pub schema_generation: u64,
    /// Its JSON without `apiVersion` and `kind`: `{"metadata":{…},…}`, compact, with its `resourceVersion` inside.
    pub body: Bytes,
    /// Its labels, for selectors.
    pub labels: Box<[(Box<str>, Box<str>)]>,
}

/// What is written, once its revision is known.
#[derive(Debug)]
pub(crate) struct Draft {
    /// See [`Stored::version`].
    pub version: Arc<str>,
    /// See [`Stored::schema_generation`].
    pub schema_generation: u64,
    /// See [`Stored::body`]. Taken as a vector so that the store can give back what was allocated too much.
    pub body: Vec<u8>,
    /// See [`Stored::labels`].
    pub labels: Box<[(Box<str>, Box<str>)]>,
}

/// What must hold for a commit to take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing is there.
    Absent,
    /// The object of exactly this revision is there.
    At(Revision),
}

/// Why a commit did not take place. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    /// Something is there already.
    #[error("something is there already")]
    Exists(Arc<Stored>),
    /// The object has changed since; what is there now.
    #[error("the object has changed")]
    Changed(Arc<Stored>),
    /// The object is gone.
    #[error("the object is gone")]
    Gone,
    /// The data directory did not take it (full disk, say).
    #[error("the data directory did not take the change")]
    Journal(#[source] io::Error),
}

/// The history does not reach back that far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history reaches back to revision {oldest}")]
pub(crate) struct Expired {
    /// The oldest revision that can be asked for.
    pub oldest: Revision,
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Its revision.
    pub revision: Revision,
    /// What was there before.
    pub before: Option<Arc<Stored>>,
    /// What is there now; for a deletion the last state, its `resourceVersion` that of the deletion.
    pub after: Arc<Stored>,
    /// It was deleted.
    pub deleted: bool,
}

/// Which objects a list or a watch is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The resource.
    pub resource: ResourceName,
    /// One namespace, or all (and objects of the cluster).
    pub namespace: Option<Arc<str>>,
}

/// Which part of a list is wanted; by default all of it, as it is now.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListOptions<'a> {
    /// Only what comes after this key ([`Page::last`] of the page before).
    pub after: Option<&'a Key>,
    /// At most so many objects, counted after the filter.
    pub limit: Option<NonZeroUsize>,
    /// As it was at this revision. One that is still to come is taken as the newest.
    pub at: Option<Revision>,
    /// Only objects it says yes to. `None` when everything is wanted: then [`Page::remaining`] can be told.
    pub filter: Option<&'a dyn Fn(&Stored) -> bool>,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// The objects, in the order etcd has them: by the bytes of `namespace/name`, so that `a-b/x` comes before `a/x`.
    pub items: Vec<Arc<Stored>>,
    /// The revision the whole list is of.
    pub revision: Revision,
    /// The last key of the page when there is more after it, whether or not the filter would take that.
    pub last: Option<Key>,
    /// How many more there are after `last`; `None` with a filter.
    pub remaining: Option<u64>,
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
    ///
    /// # Errors
    /// As [`Store::commit_with`].
    pub(crate) fn delete(
        &self,
        key: &Key,
        at: Revision,
        draft: impl FnOnce(Revision) -> Draft,
    ) -> Result<Arc<Stored>, CommitError> {
        self.write(key, Expected::At(at), true, draft)
    }

    /// Lists objects. The filter runs on a copy that shares the objects: it may take its time.
    ///
    /// # Errors
    /// When the history no longer reaches back to the revision asked for.
    pub(crate) fn list(&self, scope: &Scope, options: ListOptions<'_>) -> Result<Page, Expired> {
        let view = self.shared.read().view(scope, options.at)?;
        Ok(view.page(scope, &options))
    }

    /// Follows the changes in a scope that come after a revision.
    ///
    /// # Errors
    /// When the history no longer reaches back to that revision.
    pub(crate) fn watch(&self, scope: Scope, after: Revision) -> Result<Watch, Expired> {
        Watch::new(&self.shared, Some(scope), after)
    }

    /// Follows all changes that come after a revision.
    ///
    /// # Errors
    /// When the history no longer reaches back to that revision.
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
    /// The journal, if there is one.
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

impl Stored {
    fn new(key: Key, revision: Revision, draft: Draft) -> Self {
        let Draft { version, schema_generation, body, labels } = draft;
        // A boxed slice has no spare room; a grown vector may have as much again.
        let body = Bytes::from(body.into_boxed_slice());
        Self { key, revision, version, schema_generation, body, labels }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.resource.cmp(&other.resource).then_with(|| Place::from(self).cmp(&Place::from(other)))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Scope {
    /// Whether an object is in it.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        key.resource == self.resource
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
    }
}

impl Revision {
    /// The revision of the change after this one. Clients may name the largest number there is: nothing comes after it.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
