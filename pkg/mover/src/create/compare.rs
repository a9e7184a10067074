//! Compares sent objects with the objects on the target.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use manifest::{Map, Object, Value};
use workload::{MOVE_MARK, PAUSED_ANNOTATION};

/// Metadata lists whose order has no meaning, and to which others may add items.
const SET_FIELDS: [&str; 2] = ["finalizers", "ownerReferences"];
/// Metadata fields that a copy takes from its source.
const COPIED_METADATA: [&str; 4] = ["annotations", "finalizers", "labels", "ownerReferences"];

/// Returns the path of the first sent field that is missing or different in the found object, such as `spec.replicas`.
/// The found object may have more fields: defaults, and additions of controllers.
///
/// Values are compared as JSON, but 1 and 1.0 are equal. The status is ignored.
pub(crate) fn first_difference(sent: &Object, found: &Object) -> Option<String> {
    let fields = sent.as_map().iter().filter(|(key, _)| *key != "status");
    for (key, value) in fields {
        let there = found.as_map().get(key);
        let path = if key == "metadata" {
            metadata_difference(value, there)
        } else {
            value_difference(value, there)
        };
        if let Some(path) = path {
            return Some(format!("{key}{path}"));
        }
    }
    None
}

/// True if an object lacks content of a saved one. Metadata, pauses and the status do not count.
pub(crate) fn lacks_content_of(saved: &Object, found: &Object) -> bool {
    let mut content = without_pause(saved);
    content.as_map_mut().retain(|field, _| !["apiVersion", "metadata"].contains(&&**field));
    first_difference(&content, found).is_some()
}

fn metadata_difference(sent: &Value, found: Option<&Value>) -> Option<String> {
    let fields = sent.as_object()?.iter();
    fields.into_iter().find_map(|(key, value)| {
        let there = found.and_then(|found| found.get(key));
        let path = if SET_FIELDS.contains(&key.as_str()) {
            set_difference(value, there)
        } else {
            value_difference(value, there)
        };
        path.map(|path| format!(".{key}{path}"))
    })
}

fn set_difference(sent: &Value, found: Option<&Value>) -> Option<String> {
    let none = Vec::new();
    let found = found.and_then(Value::as_array).unwrap_or(&none);
    let sent = sent.as_array().unwrap_or(&none);
    let is_there = |item: &Value| found.iter().any(|other| value_difference(item, Some(other)).is_none());
    sent.iter().position(|item| !is_there(item)).map(|place| format!("[{place}]"))
}

/// Returns the path of the first missing or different value, relative to these values.
fn value_difference(sent: &Value, found: Option<&Value>) -> Option<String> {
    match (sent, found) {
        (Value::Null, _) => None,
        (Value::Object(sent), Some(Value::Object(found))) => sent.iter().find_map(|(key, value)| {
            value_difference(value, found.get(key)).map(|path| format!(".{key}{path}"))
        }),
        (Value::Array(sent), Some(Value::Array(found))) if sent.len() == found.len() => {
            let pairs = sent.iter().zip(found).enumerate();
            pairs.into_iter().find_map(|(place, (sent, found))| {
                value_difference(sent, Some(found)).map(|path| format!("[{place}]{path}"))
            })
        }
        // Servers often omit empty values.
        (Value::Object(sent), None) if sent.is_empty() => None,
        (Value::Array(sent), None) if sent.is_empty() => None,
        (Value::Number(sent), Some(Value::Number(found)))
            if (sent.is_f64() || found.is_f64()) && sent.as_f64() == found.as_f64() =>
        {
            None
        }
        (sent, Some(found)) if sent == found => None,
        _ => Some(String::new()),
    }
}

/// Returns an object without its pause, the mark of a move and its finalizers. An interrupted deletion has already
/// removed the finalizers.
pub(crate) fn without_pause(object: &Object) -> Object {
    let mut object = object.clone();
    let mut remove = |path: &[&str], fields: &[&str]| {
        if let Some(found) = object.get_mut(path).and_then(Value::as_object_mut) {
            found.retain(|field, _| !fields.contains(&&**field));
        }
    };
    remove(&["metadata"], &["finalizers"]);
    remove(&["metadata", "annotations"], &[MOVE_MARK, PAUSED_ANNOTATION]);
    remove(&["spec"], &["paused"]);
    object
}

/// Returns a hash of an object. Objects with the same content have the same hash, whatever their status and server
/// fields are.
pub(crate) fn content_hash(object: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    let own = object.as_map().iter().filter(|(key, _)| *key != "status" && *key != "metadata");
    hash_fields(own, &mut hasher);
    for field in COPIED_METADATA {
        let value = object.get(&["metadata", field]).filter(|value| !is_empty_value(value));
        hash(value.unwrap_or(&Value::Null), &mut hasher);
    }
    hasher.finish()
}

fn is_empty_value(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Hashes fields sorted by name, because servers may order them differently.
fn hash_fields<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>, hasher: &mut DefaultHasher) {
    let mut fields: Vec<_> = fields.filter(|(_, value)| !value.is_null()).collect();
    fields.sort_unstable_by_key(|(key, _)| *key);
    fields.len().hash(hasher);
    for (key, value) in fields {
        key.hash(hasher);
        hash(value, hasher);
    }
}

fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(value) => (1_u8, value).hash(hasher),
        Value::Number(number) => (2_u8, number.to_string()).hash(hasher),
        Value::String(text) => (3_u8, text).hash(hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(hasher);
            for item in items {
                hash(item, hasher);
            }
        }
        Value::Object(fields) => {
            5_u8.hash(hasher);
            hash_fields(fields.iter(), hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.try_into().unwrap()
    }

    #[test]
    fn every_sent_field_must_exist() {
        for (sent, found, path) in [
            (json!({"spec": {"a": 1}}), json!({"spec": {"a": 1, "b": 2}, "status": {}}), None),
            (json!({"spec": {"a": 1}}), json!({"spec": {"a": 1.0}}), None),
            (json!({"spec": {"a": 1}}), json!({"spec": {"a": "1"}}), Some("spec.a")),
            (json!({"spec": {"a": null, "b": {}, "c": []}}), json!({"spec": {}}), None),
            (json!({"spec": {"b": {"c": 1}}}), json!({"spec": {}}), Some("spec.b")),
            (
                json!({"spec": {"l": [1, {"x": 2}]}}),
                json!({"spec": {"l": [1, {"x": 3}]}}),
                Some("spec.l[1].x"),
            ),
            (json!({"spec": {"l": [1]}}), json!({"spec": {"l": [1, 2]}}), Some("spec.l")),
            (json!({"data": {"k": "eA=="}}), json!({"data": {}}), Some("data.k")),
            (json!({"status": {"a": 1}}), json!({}), None),
            (
                json!({"metadata": {"finalizers": ["a", "b"]}}),
                json!({"metadata": {"finalizers": ["c", "b", "a"]}}),
                None,
            ),
            (
                json!({"metadata": {"finalizers": ["a", "b"]}}),
                json!({"metadata": {"finalizers": ["b"]}}),
                Some("metadata.finalizers[0]"),
            ),
            (json!({"metadata": {"labels": {"a": "1"}}}), json!({"metadata": {}}), Some("metadata.labels")),
            (
                json!({"metadata": {"ownerReferences": [{"name": "a", "uid": "1"}]}}),
                json!({"metadata": {"ownerReferences": [{"name": "a", "uid": "2"}]}}),
                Some("metadata.ownerReferences[0]"),
            ),
        ] {
            let (sent, found) = (object(sent), object(found));
            assert_eq!(first_difference(&sent, &found).as_deref(), path, "{sent:?}");
        }
    }

    #[test]
    fn server_fields_do_not_affect_content_comparison() {
        let one = object(json!({
            "kind": "A", "spec": {"a": 1, "b": [1]}, "metadata": {"uid": "1", "labels": {"x": "y"}, "annotations": {}}
        }));
        let same = object(json!({
            "status": {"s": 1}, "spec": {"b": [1], "n": null, "a": 1}, "kind": "A",
            "metadata": {"labels": {"x": "y"}, "resourceVersion": "9"}
        }));
        assert_eq!(content_hash(&one), content_hash(&same));
        for other in [
            json!({"kind": "A", "spec": {"a": 1, "b": []}, "metadata": {"labels": {"x": "y"}}}),
            json!({"kind": "A", "spec": {"a": 1, "b": [1]}, "metadata": {"labels": {"x": "z"}}}),
            json!({"kind": "A", "spec": {"a": 1, "b": [1]}, "metadata": {"labels": {"x": "y"}, "finalizers": ["f"]}}),
        ] {
            assert_ne!(content_hash(&one), content_hash(&object(other.clone())), "{other}");
        }
    }
}
