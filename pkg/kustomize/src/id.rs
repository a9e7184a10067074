//! What objects are told apart by.

use std::fmt;
use std::sync::Arc;

use manifest::Object;

use crate::kinds;

/// Group, version and kind; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gvk {
    /// Empty for the core group.
    pub group: Arc<str>,
    /// Without the group.
    pub version: Arc<str>,
    /// As the object spells it.
    pub kind: Arc<str>,
}

/// The id of an object: what it is, its name, and its namespace.
///
/// Two ids are equal when they mean the same object: kinds of the whole cluster have no namespace, and no namespace is
/// `default`. [`ResId::written_namespace`] gives back what is written.
#[derive(Clone, Debug)]
pub struct ResId {
    /// What it is.
    pub gvk: Gvk,
    /// Its name.
    pub name: Arc<str>,
    namespace: Arc<str>,
}

impl Gvk {
    /// The group, version and kind an object says it is.
    pub fn of(object: &Object) -> Self {
        Self { group: object.group().into(), version: object.version().into(), kind: object.kind().into() }
    }

    /// Whether the kind is known to have no namespace; an unknown kind may have one.
    pub fn is_cluster_scoped(&self) -> bool {
        kinds::is_cluster_scoped(&self.group, &self.version, &self.kind)
    }
}

impl ResId {
    /// Makes an id of what is written.
    pub fn new(gvk: Gvk, name: &str, namespace: &str) -> Self {
        Self { gvk, name: name.into(), namespace: namespace.into() }
    }

    /// The id of an object as it stands.
    pub fn of(object: &Object) -> Self {
        Self::new(Gvk::of(object), object.name(), object.namespace())
    }

    /// Whether this is the id of an object as it stands, with the namespace as written.
    pub(crate) fn is_of(&self, object: &Object) -> bool {
        *self.name == *object.name()
            && *self.namespace == *object.namespace()
            && *self.gvk.kind == *object.kind()
            && *self.gvk.version == *object.version()
            && *self.gvk.group == *object.group()
    }

    /// The namespace as it is written, which may be empty.
    pub fn written_namespace(&self) -> &str {
        &self.namespace
    }

    /// The namespace as it is written, to be kept at no cost.
    pub(crate) fn shared_namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// The namespace that counts: none for kinds of the whole cluster, else `default` where none is written.
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

/// `Kind.version.group/name.namespace`, with `[noGrp]` and the like for what is empty.
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
    fn no_namespace_is_the_default_one_and_kinds_of_the_cluster_have_none() {
        assert_eq!(id("", "v1", "ConfigMap", ""), id("", "v1", "ConfigMap", "default"));
        assert_ne!(id("", "v1", "ConfigMap", ""), id("", "v1", "ConfigMap", "b"));
        assert_eq!(id("", "v1", "Node", "x"), id("", "v1", "Node", "y"));
        assert_ne!(id("example.com", "v1", "Node", "x"), id("example.com", "v1", "Node", "y"));
    }

    #[test]
    fn an_id_says_what_is_not_there() {
        assert_eq!(id("", "v1", "ConfigMap", "").to_string(), "ConfigMap.v1.[noGrp]/a.[noNs]");
    }
}
