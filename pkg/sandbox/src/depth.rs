//! The maximum nesting depth of objects. JSON readers stop at this depth, so that no body exhausts the stack. Stored
//! objects must not exceed the depth either: patches, protobuf and managed fields add levels.

use serde_json::Value;

/// The maximum number of nested objects and lists that `serde_json` reads.
pub(crate) const MAX_DEPTH: usize = 127;

/// True if a value nests at most this many levels of objects and lists.
pub(crate) fn fits(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(items), Some(below)) => items.iter().all(|item| fits(item, below)),
        (Value::Object(fields), Some(below)) => fields.values().all(|value| fits(value, below)),
        (Value::Array(_) | Value::Object(_), None) => false,
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_limit_matches_the_parser() {
        for (levels, expected) in [(1, true), (MAX_DEPTH, true), (MAX_DEPTH + 1, false), (1000, false)] {
            let value = (1..levels).fold(Value::Array(Vec::new()), |inner, _| Value::Array(vec![inner]));
            assert_eq!(fits(&value, MAX_DEPTH), expected, "{levels}");
            assert_eq!(serde_json::from_str::<Value>(&value.to_string()).is_ok(), expected, "{levels}");
        }
    }
}
