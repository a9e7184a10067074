//! Keys of objects and kinds.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind in its group, in any version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
}

/// The key of an object on a server, in any version: a new version is an update, not another object.
/// Source: component-operator-runtime (inventory), whose identities have no version either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ObjectName", description = "Kind and name of an object.")]
pub struct ObjectKey {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object; absent for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name of the object.
    pub name: String,
}

impl GroupKind {
    /// Combines group and kind.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }

    /// True if this pattern matches a kind: the group may be `*` or `*.suffix`, the kind `*`.
    pub fn covers(&self, kind: &Self) -> bool {
        let group = match self.group.strip_prefix('*') {
            Some(suffix) => kind.group.ends_with(suffix),
            None => self.group == kind.group,
        };
        group && (self.kind == "*" || self.kind == kind.kind)
    }
}

impl ObjectKey {
    /// Returns the kind in its group.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&*self.group, &*self.kind)
    }

    /// True if the key is of this group and kind.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// True for a CustomResourceDefinition.
    pub fn is_crd(&self) -> bool {
        self.is("apiextensions.k8s.io", "CustomResourceDefinition")
    }

    /// True for an APIService.
    pub fn is_api_service(&self) -> bool {
        self.is("apiregistration.k8s.io", "APIService")
    }

    /// True for a Namespace.
    pub fn is_namespace(&self) -> bool {
        self.is("", "Namespace")
    }

    /// Returns the key of a Namespace.
    pub fn of_namespace(name: &str) -> Self {
        Self { kind: "Namespace".to_owned(), name: name.to_owned(), ..Self::default() }
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

/// Formats the key for messages: `Deployment ns/name`.
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_group_suffixes_and_all_kinds() {
        let widget = GroupKind::new("a.example.org", "Widget");
        for (group, kind, covered) in [
            ("a.example.org", "Widget", true),
            ("a.example.org", "*", true),
            ("*", "Widget", true),
            ("*.example.org", "*", true),
            ("*.example.org", "Gadget", false),
            ("*.other.org", "*", false),
            ("example.org", "*", false),
            ("", "*", false),
        ] {
            assert_eq!(GroupKind::new(group, kind).covers(&widget), covered, "{group} {kind}");
        }
    }

    #[test]
    fn objects_are_named_by_kind_namespace_and_name() {
        let key = ObjectKey { kind: "Node".to_owned(), name: "a".to_owned(), ..ObjectKey::default() };
        assert_eq!(key.to_string(), "Node a");
        assert_eq!(ObjectKey { namespace: "n".to_owned(), ..key }.to_string(), "Node n/a");
        assert_eq!(GroupKind::new("apps", "Deployment").to_string(), "Deployment.apps");
    }
}
