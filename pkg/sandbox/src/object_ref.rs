//! References to objects by kind.

use serde_json::Value;

use crate::meta;

/// An object reference: group, kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectRef {
    /// The API group; empty for core.
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl ObjectRef {
    pub(crate) fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Returns the reference to an object.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        Self::new(group_of(text("apiVersion")), text("kind"), meta::namespace(object), meta::name(object))
    }
}

/// Returns the group of an `apiVersion`; empty for core.
pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
