//! The types of stored objects, changes and queries.

use std::{cmp::Ordering, collections::HashMap, fmt, io, num::NonZeroUsize, sync::Arc};

use bytes::Bytes;
use serde::Deserialize;

use super::objects::SortKey;

/// A position in the history. Each change creates the next revision. `metadata.resourceVersion` is its decimal form.
///
/// An empty store starts at 1, like an empty etcd, because clients give 0 a special meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Revision(pub u64);

/// The name of a stored resource in all versions: group and plural.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceName {
    /// The API group; empty for core.
    pub group: Arc<str>,
    /// The plural, such as `deployments`.
    pub plural: Arc<str>,
}

/// The identity of an object. Keys sort like lists, see [`PageNotFound::items`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub resource: ResourceName,
    /// Empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    pub name: Arc<str>,
}

/// A stored object. Immutable: an update creates a new value.
#[derive(Debug)]
pub(crate) struct StoredObject {
    pub key: Key,
    /// The revision of the write.
    pub revision: Revision,
    /// The API version of the write, without the group.
    pub version: Arc<str>,
    /// The generation of the custom resource definition that pruned and defaulted the object; 0 for built-in kinds.
    pub schema_generation: u64,
    /// The compact JSON without `apiVersion` and `kind`: `{"metadata":{…},…}`, including `resourceVersion`.
    pub body: Bytes,
    /// The labels, for selectors.
    pub labels: Box<[(Box<str>, Box<str>)]>,
}

/// The content of a write, built once its revision is known.
#[derive(Debug)]
pub(crate) struct Draft {
    /// See [`StoredObject::version`].
    pub version: Arc<str>,
    /// See [`StoredObject::schema_generation`].
    pub schema_generation: u64,
    /// See [`StoredObject::body`]. A vector, so that the store can free excess capacity.
    pub body: Vec<u8>,
    /// See [`StoredObject::labels`].
    pub labels: Box<[(Box<str>, Box<str>)]>,
}

/// The precondition of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precondition {
    Absent,
    /// The object exists with exactly this revision.
    At(Revision),
}

/// A failed commit. The store is unchanged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    /// The object already exists.
    #[error("the object already exists")]
    Exists(Arc<StoredObject>),
    /// The object has changed; contains the current object.
    #[error("the object has changed")]
    Changed(Arc<StoredObject>),
    #[error("the object no longer exists")]
    Gone,
    /// The data directory rejected the change, for example on a full disk.
    #[error("cannot write the change to the data directory")]
    Journal(#[source] io::Error),
}

/// A revision older than the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the revision is older than the history, which starts at revision {oldest}")]
pub(crate) struct Expired {
    /// The oldest available revision.
    pub oldest: Revision,
}

#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub revision: Revision,
    /// The object before the change.
    pub before: Option<Arc<StoredObject>>,
    /// The object after the change. For a deletion: the last state, with the `resourceVersion` of the deletion.
    pub after: Arc<StoredObject>,
    /// True for a deletion.
    pub deleted: bool,
}

/// The objects of a list or a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub resource: ResourceName,
    /// One namespace, or `None` for all namespaces and cluster-scoped objects.
    pub namespace: Option<Arc<str>>,
}

/// The requested part of a list; by default the whole current list.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListOptions<'a> {
    /// The key before the first object ([`PageNotFound::last`] of the previous page).
    pub after: Option<&'a Key>,
    /// The maximum number of objects, counted after the filter.
    pub limit: Option<NonZeroUsize>,
    /// The requested revision. A future revision means the newest one.
    pub at: Option<Revision>,
    /// The filter for objects. Without a filter, the store can compute [`PageNotFound::remaining`].
    pub filter: Option<&'a dyn Fn(&StoredObject) -> bool>,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// The objects in the order of etcd: by the bytes of `namespace/name`, so that `a-b/x` comes before `a/x`.
    pub items: Vec<Arc<StoredObject>>,
    /// The revision of the whole list.
    pub revision: Revision,
    /// The last key of the page if more objects follow, even if the filter rejects them.
    pub last: Option<Key>,
    /// The number of objects after `last`; `None` with a filter.
    pub remaining: Option<u64>,
}

impl StoredObject {
    pub(super) fn new(key: Key, revision: Revision, draft: Draft) -> Self {
        let Draft { version, schema_generation, body, labels } = draft;
        // A boxed slice has no spare capacity; a grown vector may have twice the needed size.
        let body = Bytes::from(body.into_boxed_slice());
        Self { key, revision, version, schema_generation, body, labels }
    }

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
        self.resource.cmp(&other.resource).then_with(|| SortKey::from(self).cmp(&SortKey::from(other)))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Scope {
    /// True if the scope contains the object.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        key.resource == self.resource
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
    }
}

impl Revision {
    /// Returns the next revision. Clients may name the largest number, which has no successor.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
