//! The filter `merge_strategic`.

use serde_json::{Map, Value};

/// Merges the mappings of a list that have the same `name`, at all levels. Later fields win.
pub(super) fn merge(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().map(merge).collect();
            if items.iter().all(|item| item.get("name").is_some()) {
                merge_named(items)
            } else {
                Value::Array(items)
            }
        }
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, field)| (key, merge(field))).collect())
        }
        other => other,
    }
}

fn merge_named(items: Vec<Value>) -> Value {
    let mut merged: Vec<Map<String, Value>> = Vec::new();
    for item in items {
        let Value::Object(fields) = item else { continue };
        match merged.iter_mut().find(|known| known.get("name") == fields.get("name")) {
            Some(known) => known.extend(fields),
            None => merged.push(fields),
        }
    }
    Value::Array(merged.into_iter().map(Value::Object).collect())
}
