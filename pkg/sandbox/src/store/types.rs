//! What is stored, changed and asked for.

use std::{cmp::Ordering, collections::HashMap, fmt, io, num::NonZeroUsize, sync::Arc};

use bytes::Bytes;
use serde::Deserialize;

use super::objects::Place;

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

impl Stored {
    pub(super) fn new(key: Key, revision: Revision, draft: Draft) -> Self {
        let Draft { version, schema_generation, body, labels } = draft;
        // A boxed slice has no spare room; a grown vector may have as much again.
        let body = Bytes::from(body.into_boxed_slice());
        Self { key, revision, version, schema_generation, body, labels }
    }

    /// The annotations of the object.
    pub(crate) fn annotations(&self) -> HashMap<String, String> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Body {
            metadata: Metadata,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Metadata {
            annotations: HashMap<String, String>,
        }
        serde_json::from_slice::<Body>(&self.body).unwrap_or_default().metadata.annotations
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
