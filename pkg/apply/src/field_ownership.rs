//! The fields that a manager owns in an object, and fields lost since the last write.

mod drift;
mod field_path;

use std::collections::BTreeSet;

use data_encoding::HEXLOWER;
use manifest::{Map, Object, Value};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(crate) use drift::field_drift;
use field_path::FieldPath;

/// Fields that servers and controllers fill in, even if manifests name them.
const CONTROLLER_FIELDS: [&str; 2] = ["f:caBundle", "f:status"];

/// A set of fields in the form of `metadata.managedFields`. It is kept as JSON text with sorted fields, because a tree takes
/// ten times the memory. The text of the empty set is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct FieldSet(Box<str>);

impl From<Map<String, Value>> for FieldSet {
    fn from(fields: Map<String, Value>) -> Self {
        if fields.is_empty() { Self::default() } else { Self(Value::Object(fields).to_string().into()) }
    }
}

impl From<FieldSet> for Map<String, Value> {
    fn from(set: FieldSet) -> Self {
        set.tree()
    }
}

/// Returns the fields that a manager owns by apply; empty if there are none.
///
/// The server removes a field from its owner if another manager changes or removes the field. Additions next to the
/// field do not matter. So the object has not drifted while this set equals the set after the write. Status, CA bundles
/// and aggregated rules do not count.
/// Source: Kubernetes 1.36 structured-merge-diff (Update); KEP-555.
pub(crate) fn owned_fields(object: &Object, manager: &str) -> FieldSet {
    let ours = managed_fields(object).find(|entry| is_applied_by(entry, manager));
    let fields = ours.and_then(|entry| entry.get("fieldsV1")).and_then(Value::as_object);
    fields.map(without_controller_fields).unwrap_or_default().into()
}

impl FieldSet {
    /// True if the set has no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the digest of the set, hex SHA-256, independent of order and form; empty for the empty set.
    pub fn digest(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut paths: Vec<String> = self.paths().iter().map(FieldPath::joined).collect();
        paths.sort_unstable();
        HEXLOWER.encode(&Sha256::digest(paths.join("\n")))
    }

    fn paths(&self) -> BTreeSet<FieldPath> {
        let mut paths = BTreeSet::new();
        collect(&self.tree(), &FieldPath::default(), &mut paths);
        paths
    }

    fn tree(&self) -> Map<String, Value> {
        if self.is_empty() {
            return Map::new();
        }
        serde_json::from_str(&self.0).expect("invariant: the text was made from JSON")
    }
}

/// Returns the entries of `metadata.managedFields`.
pub(crate) fn managed_fields(object: &Object) -> impl Iterator<Item = &Value> {
    object.get(&["metadata", "managedFields"]).and_then(Value::as_array).into_iter().flatten()
}

/// True for an entry of `metadata.managedFields` that is not about a subresource.
pub(crate) fn is_of_whole_object(entry: &Value) -> bool {
    entry["subresource"].as_str().unwrap_or_default().is_empty()
}

fn is_applied_by(entry: &Value, manager: &str) -> bool {
    entry["manager"] == manager && entry["operation"] == "Apply" && entry.get("subresource").is_none()
}

/// Returns the fields without filled-in fields, and without parents that only have such fields.
fn without_controller_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let is_aggregated = fields.contains_key("f:aggregationRule");
    let counted = fields
        .iter()
        .filter(|(name, _)| !(CONTROLLER_FIELDS.contains(&&***name) || is_aggregated && *name == "f:rules"));
    let counted = counted.filter_map(|(name, below)| {
        let all = below.as_object().filter(|all| !all.is_empty());
        let below = all.map(without_controller_fields).unwrap_or_default();
        (all.is_none() || !below.is_empty()).then(|| (name.clone(), Value::Object(below)))
    });
    counted.collect()
}

fn collect(fields: &Map<String, Value>, parent: &FieldPath, paths: &mut BTreeSet<FieldPath>) {
    for (name, below) in fields {
        let path = parent.join(name);
        match below.as_object() {
            Some(below) if !below.is_empty() => collect(below, &path, paths),
            _ => drop(paths.insert(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(fields: &Value) -> Object {
        let entries = json!([
            {"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:spec": {}}},
            {"manager": "tool", "operation": "Apply", "subresource": "status", "fieldsV1": {"f:status": {}}},
            {"manager": "tool", "operation": "Apply", "fieldsV1": fields},
        ]);
        Object::try_from(json!({"metadata": {"managedFields": entries}})).unwrap()
    }

    fn owned(fields: &Value) -> String {
        owned_fields(&object(fields), "tool").digest()
    }

    #[test]
    fn a_lost_field_changes_the_digest() {
        let all = owned(&json!({"f:spec": {"f:replicas": {}, "f:image": {}}}));
        assert_eq!(all, owned(&json!({"f:spec": {"f:image": {}, "f:replicas": {}}})), "order does not count");
        assert_ne!(all, owned(&json!({"f:spec": {"f:replicas": {}}})));
        assert_ne!(all, owned(&json!({"f:spec": {}})));
    }

    #[test]
    fn fields_of_controllers_do_not_change_the_digest() {
        let bare =
            owned(&json!({"f:webhooks": {"k:{\"name\":\"a\"}": {"f:clientConfig": {"f:service": {}}}}}));
        let filled = json!({"f:service": {}, "f:caBundle": {}});
        assert_eq!(bare, owned(&json!({"f:webhooks": {"k:{\"name\":\"a\"}": {"f:clientConfig": filled}}})));
        let aggregated = owned(&json!({"f:aggregationRule": {}}));
        assert_eq!(aggregated, owned(&json!({"f:aggregationRule": {}, "f:rules": {}})));
        assert_ne!(owned(&json!({"f:metadata": {}, "f:rules": {}})), owned(&json!({"f:metadata": {}})));
        assert_eq!(
            owned(&json!({"f:metadata": {}, "f:spec": {"f:caBundle": {}}})),
            owned(&json!({"f:metadata": {}}))
        );
    }

    #[test]
    fn a_manager_without_fields_has_no_digest() {
        assert_eq!(owned_fields(&object(&json!({"f:spec": {}})), "another").digest(), "");
        assert_eq!(owned_fields(&Object::default(), "tool").digest(), "");
    }
}
