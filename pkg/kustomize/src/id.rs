//! Identities of objects.

use std::fmt;
use std::sync::Arc;

use manifest::Object;

use crate::kinds;

/// Group, version and kind; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gvk {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The API version without the group.
    pub version: Arc<str>,
    /// The kind, as the object spells it.
    pub kind: Arc<str>,
}

/// The id of an object: its kind, name and namespace.
///
/// Equal ids mean the same object: cluster-scoped kinds have no namespace, and an empty namespace equals `default`.
/// [`ResId::written_namespace`] returns the namespace as written.
#[derive(Clone, Debug)]
pub struct ResId {
    /// The group, version and kind.
    pub gvk: Gvk,
    /// The name in `metadata.name`.
    pub name: Arc<str>,
    namespace: Arc<str>,
}

impl Gvk {
    /// Returns the group, version and kind of an object.
    pub fn of(object: &Object) -> Self {
        Self { group: object.group().into(), version: object.version().into(), kind: object.kind().into() }
    }

    /// True if the kind is known to be cluster-scoped; an unknown kind may be namespaced.
    pub fn is_cluster_scoped(&self) -> bool {
        kinds::is_cluster_scoped(&self.group, &self.version, &self.kind)
    }
}

impl ResId {
    /// Makes an id of a kind, a name and a namespace as written.
    pub fn new(gvk: Gvk, name: &str, namespace: &str) -> Self {
        Self { gvk, name: name.into(), namespace: namespace.into() }
    }

    /// Returns the current id of an object.
    pub fn of(object: &Object) -> Self {
        Self::new(Gvk::of(object), object.name(), object.namespace())
    }

    /// True if this is the current id of an object, with the namespace as written.
    pub(crate) fn is_of(&self, object: &Object) -> bool {
        *self.name == *object.name()
            && *self.namespace == *object.namespace()
            && *self.gvk.kind == *object.kind()
            && *self.gvk.version == *object.version()
            && *self.gvk.group == *object.group()
    }

    /// The namespace as written, possibly empty.
    pub fn written_namespace(&self) -> &str {
        &self.namespace
    }

    /// The namespace as written, cheap to clone.
    pub(crate) fn shared_namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// The effective namespace: empty for cluster-scoped kinds, else `default` if none is written.
    pub fn namespace(&self) -> &str {
        if self.gvk.is_cluster_scoped() {
            ""
        } else if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }
}

impl PartialEq for ResId {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.gvk == other.gvk && self.namespace() == other.namespace()
    }
}

impl Eq for ResId {}

impl std::hash::Hash for ResId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.gvk.kind.hash(state);
        self.namespace().hash(state);
    }
}

/// Writes `KustomizationKind.version.group/name.namespace`, with placeholders such as `[noGrp]` for empty parts.
impl fmt::Display for ResId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &str, none: &str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
        let Gvk { group, version, kind } = &self.gvk;
        write!(
            formatter,
            "{}.{}.{}/{}.{}",
            or(kind, "[noKind]"),
            or(version, "[noVer]"),
            or(group, "[noGrp]"),
            or(&self.name, "[noName]"),
            or(&self.namespace, "[noNs]")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(group: &str, version: &str, kind: &str, namespace: &str) -> ResId {
        let gvk = Gvk { group: group.into(), version: version.into(), kind: kind.into() };
        ResId::new(gvk, "a", namespace)
    }

    #[test]
    fn a_missing_namespace_is_default_except_for_cluster_scoped_kinds() {
        assert_eq!(id("", "v1", "ConfigMap", ""), id("", "v1", "ConfigMap", "default"));
        assert_ne!(id("", "v1", "ConfigMap", ""), id("", "v1", "ConfigMap", "b"));
        assert_eq!(id("", "v1", "Node", "x"), id("", "v1", "Node", "y"));
        assert_ne!(id("example.com", "v1", "Node", "x"), id("example.com", "v1", "Node", "y"));
    }

    #[test]
    fn an_id_shows_missing_parts() {
        assert_eq!(id("", "v1", "ConfigMap", "").to_string(), "ConfigMap.v1.[noGrp]/a.[noNs]");
    }
}
