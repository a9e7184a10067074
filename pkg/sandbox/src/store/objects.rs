//! The objects of one resource, sorted. A clone shares the map until one of the owners changes it.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use super::{Key, StoredObject};

/// The objects of one resource, sorted by [`sort_key`].
#[derive(Clone, Debug, Default)]
pub(super) struct Objects(Arc<BTreeMap<Arc<str>, Arc<StoredObject>>>);

/// The position of an object in its resource: `namespace/name`, like the keys of etcd. `-` and `.` come before `/`, so
/// objects of `a-b` come before those of `a`.
pub(super) fn sort_key(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

impl Objects {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<StoredObject>> {
        self.0.values()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<StoredObject>> {
        self.0.get(&*sort_key(key))
    }

    pub(super) fn insert(&mut self, object: Arc<StoredObject>) {
        Arc::make_mut(&mut self.0).insert(sort_key(&object.key).into(), object);
    }

    pub(super) fn remove(&mut self, key: &Key) {
        Arc::make_mut(&mut self.0).remove(&*sort_key(key));
    }

    /// Returns the objects of one namespace or all, after a key, even if no object has the key.
    pub(super) fn range(
        &self,
        namespace: Option<&str>,
        after: Option<&Key>,
    ) -> impl Iterator<Item = &Arc<StoredObject>> {
        let first = namespace.map(|namespace| format!("{namespace}/"));
        let after = after.map(sort_key).filter(|after| first.as_ref().is_none_or(|first| first <= after));
        let start = match (&after, &first) {
            (Some(after), _) => Bound::Excluded(&**after),
            (None, Some(first)) => Bound::Included(&**first),
            (None, None) => Bound::Unbounded,
        };
        let objects = self.0.range::<str, _>((start, Bound::Unbounded)).map(|(_, object)| object);
        objects
            .take_while(move |object| namespace.is_none_or(|namespace| *object.key.namespace == *namespace))
    }
}
