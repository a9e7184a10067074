//! Removal of empty values.

use serde_json::Value;

/// Removes null, empty lists and empty mappings from a value. A list or mapping that becomes empty stays.
///
/// Source: Kapitan 0.36, the option `prune`.
pub(super) fn prune(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Object(fields) if fields.is_empty() => None,
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(prune).collect())),
        Value::Object(fields) => {
            let kept = fields.into_iter().filter_map(|(key, field)| Some((key, prune(field)?)));
            Some(Value::Object(kept.collect()))
        }
        scalar => Some(scalar),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_become_empty_stay() {
        let value = json!({"a": null, "b": [], "c": {"d": {}}, "e": [null, [], 0], "f": "", "g": false});
        let pruned = json!({"c": {}, "e": [0], "f": "", "g": false});
        assert_eq!(prune(value), Some(pruned));
        assert_eq!(prune(json!([])), None);
    }
}
