//! What a server serves.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use manifest::{Object, Value};

use crate::{GroupKind, ObjectKey};

/// What can be done with objects of every kind that a CustomResourceDefinition brings.
/// Source: Kubernetes 1.36, apiextensions-apiserver/pkg/apiserver (customresource_discovery_controller).
const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// A kind as a server serves it in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKind {
    /// The API group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The plural in URLs.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it, such as `list`; empty when the server does not say.
    pub verbs: Vec<String>,
}

/// Every kind a server serves, as it was when it was asked.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// By group and kind; the versions in the server's order of preference.
    served: BTreeMap<GroupKind, Vec<ApiKind>>,
    /// Groups that could not be asked, such as those of a dead aggregated API, as `group/version`.
    broken: BTreeSet<String>,
}

impl ApiKind {
    /// As objects name it, such as `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The kind in its group.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&*self.group, &*self.kind)
    }

    /// Whether something can be done with it; a server that does not say is believed to be able to.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.is_empty() || self.verbs.iter().any(|able| able == verb)
    }
}

impl Kinds {
    /// Adds a version of a kind behind those already there.
    pub fn add(&mut self, kind: ApiKind) {
        self.served.entry(GroupKind::new(&*kind.group, &*kind.kind)).or_default().push(kind);
    }

    /// Takes in what an established definition makes the server serve, in place of what was known of its kind.
    pub(crate) fn define(&mut self, definition: &Object) {
        let mut versions = defined_kinds(definition);
        versions.sort_by_cached_key(|served| Reverse(preference(&served.version)));
        if let Some(first) = versions.first() {
            self.served.insert(first.group_kind(), versions);
        }
    }

    /// Notes a `group/version` that could not be asked.
    pub fn add_broken(&mut self, group_version: impl Into<String>) {
        self.broken.insert(group_version.into());
    }

    /// The version the server prefers.
    pub fn preferred(&self, kind: &GroupKind) -> Option<&ApiKind> {
        self.served.get(kind)?.first()
    }

    /// Of some versions the one the server prefers.
    pub fn preferred_among(&self, kind: &GroupKind, some: impl Fn(&str) -> bool) -> Option<&ApiKind> {
        self.served.get(kind)?.iter().find(|served| some(&served.version))
    }

    /// One version of a kind.
    pub fn version(&self, kind: &GroupKind, version: &str) -> Option<&ApiKind> {
        self.served.get(kind)?.iter().find(|served| served.version == version)
    }

    /// Every kind in its preferred version, by group and kind.
    pub fn iter(&self) -> impl Iterator<Item = &ApiKind> {
        self.served.values().filter_map(|versions| versions.first())
    }

    /// What could not be asked, as `group/version`.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(String::as_str)
    }
}

/// The kinds that a CustomResourceDefinition will make the server serve, a version each; none for other objects.
/// For [`Kinds::add`], where objects are desired whose definitions are applied before them as part of another set.
pub fn defined_kinds(definition: &Object) -> Vec<ApiKind> {
    if !ObjectKey::of(definition).is_crd() {
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

/// The place of a version among others of its kind; a server prefers the greatest: `v2`, `v1`, `v2beta1`, `v1alpha1`.
/// Source: Kubernetes 1.36, apimachinery/pkg/version (CompareKubeAwareVersionStrings).
fn preference(version: &str) -> Option<(u8, u64, u64)> {
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
    fn a_definition_brings_its_versions_in_the_order_a_server_prefers_them() {
        let definition = |versions: &[&str]| {
            let versions: Vec<_> =
                versions.iter().map(|name| json!({"name": name, "served": true})).collect();
            Object::try_from(json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a.b"},
                "spec": {"group": "b", "scope": "Cluster", "names": {"kind": "A", "plural": "as"}, "versions": versions}
            }))
            .unwrap()
        };
        let mut kinds = Kinds::default();
        kinds.define(&definition(&["v9"]));
        kinds.define(&definition(&["odd", "v1alpha1", "v1beta1", "v1", "v1beta2", "v2"]));
        let known: Vec<_> =
            kinds.served[&GroupKind::new("b", "A")].iter().map(|served| served.version.as_str()).collect();
        assert_eq!(known, ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "odd"]);
    }
}
