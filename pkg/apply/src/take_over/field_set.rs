//! Sets of fields as metadata.managedFields holds them.

use manifest::{Map, Value};

/// What says that a field with fields below it is in the set itself.
const ITSELF: &str = ".";

/// Adds all fields of a set to another.
///
/// Shape: a key with an empty mapping is a field of the set; one with keys below is so only when `.` is among them.
/// Source: Kubernetes FieldsV1 (structured-merge-diff v6, serialisation of sets).
pub(super) fn unite(set: &mut Map<String, Value>, other: &Map<String, Value>) {
    for (key, below) in other {
        let Some(below) = below.as_object() else { continue };
        match set.get_mut(key).and_then(Value::as_object_mut) {
            Some(there) => unite_below(there, below),
            None => {
                set.insert(key.clone(), Value::Object(below.clone()));
            }
        }
    }
}

fn unite_below(there: &mut Map<String, Value>, below: &Map<String, Value>) {
    let is_member = there.is_empty() || below.is_empty();
    unite(there, below);
    if is_member && !there.is_empty() {
        there.insert(ITSELF.to_owned(), Value::Object(Map::new()));
    }
}
