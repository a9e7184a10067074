//! CustomResourceDefinitions: detects versions that a change would lose, and keeps definitions that are in use.

use api::ProviderId;
use apply::{ApiError, ApplySet, ApplySetItem, DesiredSet};
use inventory::ManagementCluster;
use manifest::{Object, Value};

use crate::provider_set::{marks, options};

/// Returns the stored versions of the live definition that the next definition no longer serves.
///
/// A version is lost if the next definition lacks it or stops serving it.
pub(crate) fn versions_lost(live: &Object, next: &Object) -> Vec<String> {
    let is_lost = |version: &&str| match is_served(next, version) {
        None => true,
        Some(served) => !served && is_served(live, version) == Some(true),
    };
    stored_versions(live).filter(is_lost).map(str::to_owned).collect()
}

/// Returns the stored versions of the live definition that another definition lacks.
pub(crate) fn versions_missing(live: &Object, other: &Object) -> Vec<String> {
    stored_versions(live).filter(|version| is_served(other, version).is_none()).map(str::to_owned).collect()
}

/// Returns the versions in which objects may be stored.
pub(crate) fn stored_versions(definition: &Object) -> impl Iterator<Item = &str> {
    let stored = definition.get(&["status", "storedVersions"]).and_then(Value::as_array);
    stored.into_iter().flatten().filter_map(Value::as_str)
}

/// True if a version is served. `None` if the definition lacks the version.
pub(crate) fn is_served(definition: &Object, version: &str) -> Option<bool> {
    let versions = definition.get(&["spec", "versions"]).and_then(Value::as_array)?;
    let found = versions.iter().find(|found| found.get("name").and_then(Value::as_str) == Some(version))?;
    Some(found.get("served").and_then(Value::as_bool).unwrap_or_default())
}

/// Removes objects that must stay from a set, before undesired objects are deleted: definitions in use, and
/// namespaces.
/// Returns a warning for each definition.
pub(crate) async fn keep_used_definitions(
    cluster: &ManagementCluster,
    set: &mut ApplySet,
    desired: &DesiredSet,
    id: &ProviderId,
) -> Result<Vec<String>, ApiError> {
    let is_dropped = |item: &&ApplySetItem| !desired.objects.iter().any(|object| object.key == item.key);
    let dropped = ApplySet { items: set.items.iter().filter(is_dropped).cloned().collect() };
    for item in dropped.items.iter().filter(|item| item.key.is_namespace()) {
        set.remove(&item.key);
    }
    let mut warnings = Vec::new();
    for used in cluster.server.in_use(&dropped, &marks(id), &options("")).await? {
        set.remove(&used.definition);
        warnings.push(format!("`{id}` no longer contains {}; keeping it: {used}", used.definition));
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Parses `v1 v2- | v1 v2`: versions, with `-` if not served, then stored versions.
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
    fn stored_versions_must_be_in_the_definition_of_the_rollback() {
        let missing = |live: &str, old: &str| versions_missing(&definition(live), &definition(old));
        assert!(missing("v1 v2 | v1", "v1 |").is_empty());
        assert!(missing("v1- v2 | v1 v2", "v1 v2- |").is_empty());
        assert_eq!(missing("v1 v2 | v1 v2", "v1 |"), ["v2"]);
    }
}
