//! The references in the objects of a compiled catalog.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use manifest::{Object, Value};

use super::replace::REFERENCE;

/// Returns the references in all texts of an object, sorted. Also finds those in the encoded data of a Secret.
pub(crate) fn references_in(object: &Object) -> Vec<String> {
    let mut found = BTreeSet::new();
    object.as_map().values().for_each(|value| find(value, &mut found));
    let data = object.get(&["data"]).and_then(Value::as_object).filter(|_| object.kind() == "Secret");
    for text in data.into_iter().flat_map(manifest::Map::values).filter_map(Value::as_str) {
        let decoded = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        find_in_text(&decoded.unwrap_or_default(), &mut found);
    }
    found.into_iter().collect()
}

fn find(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => find_in_text(text, found),
        Value::Array(items) => items.iter().for_each(|item| find(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| find(field, found)),
        _ => {}
    }
}

fn find_in_text(text: &str, found: &mut BTreeSet<String>) {
    if text.contains("?{") {
        found.extend(REFERENCE.find_iter(text).map(|reference| reference.as_str().to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_found_in_texts_and_in_encoded_data() {
        let of = |object: Value| references_in(&Object::try_from(object).unwrap());
        let encoded = STANDARD.encode("user:?{vaultkv:t/c/a:00}");
        assert_eq!(of(json!({"kind": "Secret", "data": {"x": encoded}})), ["?{vaultkv:t/c/a:00}"]);
        assert_eq!(
            of(json!({"kind": "X", "spec": [{"b": "?{vaultkv:b}, ?{vaultkv:a}, ?{vaultkv:b}"}]})),
            ["?{vaultkv:a}", "?{vaultkv:b}"]
        );
        assert!(of(json!({"kind": "X", "pattern": "a?{2}", "url": "x?{query}"})).is_empty());
    }
}
