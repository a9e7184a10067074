//! Labels and annotations.

use std::collections::BTreeSet;

use api::output::{ChangedPart, ObjectChange};
use manifest::{Map, Value, value_text};

use super::change;

/// The annotation that repeats a whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

pub(super) fn extract(before: &mut Value, after: &mut Value, changes: &mut Vec<ObjectChange>) {
    for (field, part) in [("labels", ChangedPart::Label), ("annotations", ChangedPart::Annotation)] {
        let map = |object: &Value| -> Map<String, Value> {
            object
                .pointer(&format!("/metadata/{field}"))
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let (old, new) = (map(before), map(after));
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys.into_iter().filter(|key| *key != LAST_APPLIED && old.get(*key) != new.get(*key)) {
            let text = |map: &Map<String, Value>| map.get(key).map(value_text);
            changes.push(change(part, key, text(&old), text(&new)));
        }
        for object in [&mut *before, after] {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove(field);
            }
        }
    }
}
