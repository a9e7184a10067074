//! Which fields of an object a manager still owns.

use data_encoding::HEXLOWER;
use manifest::{Map, Object, Value};
use sha2::{Digest, Sha256};

/// Fields that servers and controllers fill in although manifests may name them.
const FILLED_IN: [&str; 2] = ["f:caBundle", "f:status"];

/// A digest of the fields that a manager owns by apply: hex SHA-256; empty when it owns none.
///
/// The server takes a field away from its owner when somebody else gives it another value or removes it, and leaves it
/// when something is added beside it. So the object is as it was applied as long as this is what it was after the write.
/// Status, CA bundles, and rules that are aggregated do not count.
/// Source: Kubernetes 1.36 structured-merge-diff (Update); KEP-555.
pub fn owned_fields(object: &Object, manager: &str) -> String {
    let entries = object.get(&["metadata", "managedFields"]).and_then(Value::as_array);
    let is_ours = |entry: &&Value| {
        entry["manager"] == manager && entry["operation"] == "Apply" && entry.get("subresource").is_none()
    };
    let ours = entries.into_iter().flatten().find(is_ours);
    let Some(fields) = ours.and_then(|entry| entry.get("fieldsV1")).and_then(Value::as_object) else {
        return String::new();
    };
    let mut paths = Vec::new();
    collect(fields, "", &mut paths);
    paths.sort_unstable();
    HEXLOWER.encode(&Sha256::digest(paths.join("\n")))
}

/// Lists the paths of a field set: the order and the form it is written in do not count.
fn collect(fields: &Map<String, Value>, parent: &str, paths: &mut Vec<String>) {
    let is_aggregated = fields.contains_key("f:aggregationRule");
    for (name, below) in fields {
        if FILLED_IN.contains(&&**name) || is_aggregated && name == "f:rules" {
            continue;
        }
        let path = format!("{parent}/{name}");
        match below.as_object() {
            Some(below) if !below.is_empty() => collect(below, &path, paths),
            _ => paths.push(path),
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
        owned_fields(&object(fields), "tool")
    }

    #[test]
    fn a_field_that_was_lost_changes_the_digest() {
        let all = owned(&json!({"f:spec": {"f:replicas": {}, "f:image": {}}}));
        assert_eq!(all, owned(&json!({"f:spec": {"f:image": {}, "f:replicas": {}}})), "order does not count");
        assert_ne!(all, owned(&json!({"f:spec": {"f:replicas": {}}})));
        assert_ne!(all, owned(&json!({"f:spec": {}})));
    }

    #[test]
    fn what_controllers_fill_in_does_not_change_it() {
        let bare =
            owned(&json!({"f:webhooks": {"k:{\"name\":\"a\"}": {"f:clientConfig": {"f:service": {}}}}}));
        let filled = json!({"f:service": {}, "f:caBundle": {}});
        assert_eq!(bare, owned(&json!({"f:webhooks": {"k:{\"name\":\"a\"}": {"f:clientConfig": filled}}})));
        let aggregated = owned(&json!({"f:aggregationRule": {}}));
        assert_eq!(aggregated, owned(&json!({"f:aggregationRule": {}, "f:rules": {}})));
        assert_ne!(owned(&json!({"f:metadata": {}, "f:rules": {}})), owned(&json!({"f:metadata": {}})));
    }

    #[test]
    fn who_owns_nothing_has_no_digest() {
        assert_eq!(owned_fields(&object(&json!({"f:spec": {}})), "another"), "");
        assert_eq!(owned_fields(&Object::default(), "tool"), "");
    }
}
