//! The kinds that a server serves.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use manifest::{Object, Value};

use crate::{GroupKind, key_of};

/// The verbs of every kind that a CustomResourceDefinition defines.
/// Source: Kubernetes 1.36, apiextensions-apiserver/pkg/apiserver (customresource_discovery_controller).
const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// A kind in one version, as a server serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version, such as `v1beta1`.
    pub version: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// The plural in URLs.
    pub plural: String,
    /// True if objects of the kind live in namespaces.
    pub namespaced: bool,
    /// The verbs of the kind, such as `list`; empty if the server does not report them.
    pub verbs: Vec<String>,
}

/// All kinds of a server at the time of discovery.
#[derive(Clone, Debug, Default)]
pub struct ServedKinds {
    /// Kinds by group and kind; the versions in the server's order of preference.
    served: BTreeMap<GroupKind, Vec<ApiKind>>,
    /// Groups without an answer, such as groups of a dead aggregated API, as `group/version`.
    unavailable: BTreeSet<String>,
}

impl ApiKind {
    /// Returns the `apiVersion` of objects, such as `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the kind in its group.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&*self.group, &*self.kind)
    }

    /// True if the kind has the verb, or if the server does not report verbs.
    pub fn supports(&self, verb: &str) -> bool {
        self.verbs.is_empty() || self.verbs.iter().any(|able| able == verb)
    }
}

impl ServedKinds {
    /// Adds a version of a kind after its existing versions.
    pub fn add(&mut self, kind: ApiKind) {
        self.served.entry(GroupKind::new(&*kind.group, &*kind.kind)).or_default().push(kind);
    }

    /// Replaces a kind by the versions of an established definition.
    pub(crate) fn define(&mut self, definition: &Object) {
        let mut versions = defined_kinds(definition);
        versions.sort_by_cached_key(|served| Reverse(version_priority(&served.version)));
        if let Some(first) = versions.first() {
            self.served.insert(first.group_kind(), versions);
        }
    }

    /// Adds a `group/version` without an answer.
    pub fn add_unavailable(&mut self, group_version: impl Into<String>) {
        self.unavailable.insert(group_version.into());
    }

    /// Returns the version that the server prefers.
    pub fn preferred(&self, kind: &GroupKind) -> Option<&ApiKind> {
        self.served.get(kind)?.first()
    }

    /// Returns the version that the server prefers among some versions.
    pub fn preferred_among(&self, kind: &GroupKind, some: impl Fn(&str) -> bool) -> Option<&ApiKind> {
        self.served.get(kind)?.iter().find(|served| some(&served.version))
    }

    /// Returns one version of a kind.
    pub fn version(&self, kind: &GroupKind, version: &str) -> Option<&ApiKind> {
        self.served.get(kind)?.iter().find(|served| served.version == version)
    }

    /// Returns every kind in its preferred version, by group and kind.
    pub fn iter(&self) -> impl Iterator<Item = &ApiKind> {
        self.served.values().filter_map(|versions| versions.first())
    }

    /// Returns every kind in every version, by group and kind.
    pub fn versions(&self) -> impl Iterator<Item = &ApiKind> {
        self.served.values().flatten()
    }

    /// Returns groups without an answer, as `group/version`.
    pub fn unavailable(&self) -> impl Iterator<Item = &str> {
        self.unavailable.iter().map(String::as_str)
    }
}

/// Returns the kinds that a CustomResourceDefinition defines, one for each served version; empty for other objects.
/// Callers pass them to [`ServedKinds::add`] for objects whose definitions belong to a set that is applied before.
pub fn defined_kinds(definition: &Object) -> Vec<ApiKind> {
    if !key_of(definition).is_crd() {
        return Vec::new();
    }
    let text = |path: &[&str]| definition.get(path).and_then(Value::as_str).unwrap_or_default();
    let versions = definition.get(&["spec", "versions"]).and_then(Value::as_array);
    let served = versions.into_iter().flatten().filter(|version| version["served"] != Value::Bool(false));
    served
        .filter_map(|version| version["name"].as_str())
        .map(|version| ApiKind {
            group: text(&["spec", "group"]).to_owned(),
            version: version.to_owned(),
            kind: text(&["spec", "names", "kind"]).to_owned(),
            plural: text(&["spec", "names", "plural"]).to_owned(),
            namespaced: text(&["spec", "scope"]) == "Namespaced",
            verbs: CUSTOM_VERBS.map(str::to_owned).to_vec(),
        })
        .collect()
}

/// Returns the rank of a version among the versions of its kind. A server prefers the greatest: `v2`, `v1`, `v2beta1`,
/// `v1alpha1`.
/// Source: Kubernetes 1.36, apimachinery/pkg/version (CompareKubeAwareVersionStrings).
fn version_priority(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let (major, stage) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let (level, minor) = match stage.strip_prefix("beta") {
        Some(minor) => (1, minor),
        None if stage.is_empty() => (2, "0"),
        None => (0, stage.strip_prefix("alpha")?),
    };
    Some((level, major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn definition_versions_are_in_the_preferred_order_of_the_server() {
        let definition = |versions: &[&str]| {
            let versions: Vec<_> =
                versions.iter().map(|name| json!({"name": name, "served": true})).collect();
            Object::try_from(json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a.b"},
                "spec": {"group": "b", "scope": "Cluster", "names": {"kind": "A", "plural": "as"}, "versions": versions}
            }))
            .unwrap()
        };
        let mut kinds = ServedKinds::default();
        kinds.define(&definition(&["v9"]));
        kinds.define(&definition(&["odd", "v1alpha1", "v1beta1", "v1", "v1beta2", "v2"]));
        let known: Vec<_> =
            kinds.served[&GroupKind::new("b", "A")].iter().map(|served| served.version.as_str()).collect();
        assert_eq!(known, ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "odd"]);
    }
}
