//! Sets of fields in the form of metadata.managedFields.

use manifest::{Map, Value};

/// The key that includes a field with subfields in the set.
const SELF_KEY: &str = ".";

/// Adds all fields of a set to another set.
///
/// Shape: a key with an empty mapping is a field of the set. A key with subkeys is a field of the set only if it has
/// the key `.`.
/// Source: Kubernetes FieldsV1 (structured-merge-diff v6, serialisation of sets).
pub(super) fn merge(set: &mut Map<String, Value>, other: &Map<String, Value>) {
    for (key, below) in other {
        let Some(below) = below.as_object() else { continue };
        match set.get_mut(key).and_then(Value::as_object_mut) {
            Some(there) => merge_children(there, below),
            None => {
                set.insert(key.clone(), Value::Object(below.clone()));
            }
        }
    }
}

fn merge_children(there: &mut Map<String, Value>, below: &Map<String, Value>) {
    let is_member = there.is_empty() || below.is_empty();
    merge(there, below);
    if is_member && !there.is_empty() {
        there.insert(SELF_KEY.to_owned(), Value::Object(Map::new()));
    }
}
