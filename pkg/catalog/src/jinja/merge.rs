//! The filter `merge_strategic`.

use indexmap::IndexMap;
use serde_json::{Map, Value};

/// Merges the mappings of a list that have the same `name`, at all levels. Later fields win.
pub(super) fn merge(value: Value) -> Value {
    match value {
        Value::Array(items) => merge_named(items).into_iter().map(merge).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, field)| (key, merge(field))).collect(),
        other => other,
    }
}

/// Merges the items with the same name, if every item has a name. Values inside of the items stay as they are.
fn merge_named(items: Vec<Value>) -> Vec<Value> {
    if items.iter().any(|item| item.get("name").is_none()) {
        return items;
    }
    let mut by_name: IndexMap<Value, Map<String, Value>> = IndexMap::new();
    for item in items {
        if let Value::Object(fields) = item {
            by_name.entry(fields["name"].clone()).or_default().extend(fields);
        }
    }
    by_name.into_values().map(Value::Object).collect()
}
