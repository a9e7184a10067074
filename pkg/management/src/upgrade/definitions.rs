//! Definitions of kinds: which versions a change would lose, and which definitions stay because they are used.

use api::ProviderId;
use apply::{ApiError, ApplySet, DesiredSet, Item};
use inventory::ManagementCluster;
use manifest::{Object, Value};

use crate::provider_set::{marks, options};

/// Whether an object is the definition of a kind.
pub(crate) fn is_definition(object: &Object) -> bool {
    object.group() == "apiextensions.k8s.io" && object.kind() == "CustomResourceDefinition"
}

/// Versions in which objects are stored, by the live definition, and that are no longer served by the next one: it lacks them,
/// or has switched off what was on.
pub(crate) fn versions_lost(live: &Object, next: &Object) -> Vec<String> {
    let is_lost = |version: &&str| match is_served(next, version) {
        None => true,
        Some(served) => !served && is_served(live, version) == Some(true),
    };
    stored(live).filter(is_lost).map(str::to_owned).collect()
}

/// Versions in which objects are stored, by the live definition, and that another one does not have at all.
pub(crate) fn versions_missing(live: &Object, other: &Object) -> Vec<String> {
    stored(live).filter(|version| is_served(other, version).is_none()).map(str::to_owned).collect()
}

/// Versions in which objects may be stored.
pub(crate) fn stored(definition: &Object) -> impl Iterator<Item = &str> {
    let stored = definition.get(&["status", "storedVersions"]).and_then(Value::as_array);
    stored.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a version is served; none when the definition does not have it.
pub(crate) fn is_served(definition: &Object, version: &str) -> Option<bool> {
    let versions = definition.get(&["spec", "versions"]).and_then(Value::as_array)?;
    let found = versions.iter().find(|found| found.get("name").and_then(Value::as_str) == Some(version))?;
    Some(found.get("served").and_then(Value::as_bool).unwrap_or_default())
}

/// Takes what must stay out of a set, before what is no longer desired is deleted: definitions with objects of their
/// kinds, and namespaces. Gives a word about each definition.
pub(crate) async fn keep_used(
    cluster: &ManagementCluster,
    set: &mut ApplySet,
    desired: &DesiredSet,
    id: &ProviderId,
) -> Result<Vec<String>, ApiError> {
    let is_dropped = |item: &&Item| !desired.objects.iter().any(|object| object.key == item.key);
    let dropped = ApplySet { items: set.items.iter().filter(is_dropped).cloned().collect() };
    for item in dropped.items.iter().filter(|item| item.key.is("", "Namespace")) {
        set.forget(&item.key);
    }
    let mut words = Vec::new();
    for used in cluster.server.in_use(&dropped, &marks(id), &options("")).await? {
        set.forget(&used.definition);
        words.push(format!("`{id}` no longer brings {}; it is kept: {used}", used.definition));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `v1 v2- | v1 v2`: versions, with `-` where they are not served, and what is stored.
    fn definition(text: &str) -> Object {
        let (versions, stored) = text.split_once('|').unwrap();
        let version = |text: &str| match text.strip_suffix('-') {
            Some(name) => json!({"name": name, "served": false}),
            None => json!({"name": text, "served": true}),
        };
        let versions: Vec<_> = versions.split_whitespace().map(version).collect();
        let stored: Vec<_> = stored.split_whitespace().collect();
        Object::try_from(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.io"},
            "spec": {"versions": versions}, "status": {"storedVersions": stored},
        }))
        .unwrap()
    }

    #[test]
    fn a_stored_version_that_is_no_longer_served_is_lost() {
        let cases: [(&str, &str, &[&str]); 6] = [
            ("v1 | v1", "v1 v2 |", &[]),
            ("v1 v2 | v1 v2", "v2 |", &["v1"]),
            ("v1 v2 | v1 v2", "v1- v2 |", &["v1"]),
            ("v1 v2 | v2", "v2 |", &[]),
            ("v1- v2 | v1 v2", "v1- v2 |", &[]),
            ("v1- v2 | v1 v2", "v2 |", &["v1"]),
        ];
        for (live, next, lost) in cases {
            assert_eq!(versions_lost(&definition(live), &definition(next)), lost, "{live} to {next}");
        }
    }

    #[test]
    fn a_stored_version_must_be_in_the_definition_that_is_gone_back_to() {
        let missing = |live: &str, old: &str| versions_missing(&definition(live), &definition(old));
        assert!(missing("v1 v2 | v1", "v1 |").is_empty());
        assert!(missing("v1- v2 | v1 v2", "v1 v2- |").is_empty());
        assert_eq!(missing("v1 v2 | v1 v2", "v1 |"), ["v2"]);
    }
}
