//! Short hashes of Pod templates.

use serde_json::Value;

use crate::meta::SAFE_LETTERS;

/// A hash of a value in at most ten letters (apimachinery's `rand.SafeEncodeString`). The real controllers use FNV-1a
/// too. Differs: the hash covers the JSON text, so the names differ.
pub(super) fn short_hash(value: &Value) -> String {
    let hash = value
        .to_string()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_string()
        .bytes()
        .map(|digit| char::from(SAFE_LETTERS[usize::from(digit) % SAFE_LETTERS.len()]))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hashes_ignore_the_order_of_fields() {
        let one: Value = serde_json::from_str(r#"{"a": 1, "b": 2}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"b": 2, "a": 1}"#).unwrap();
        assert_eq!(short_hash(&one), short_hash(&other));
        assert_ne!(short_hash(&one), short_hash(&json!({"a": 1, "b": 3})));
        assert!(
            short_hash(&one).len() <= 10
                && short_hash(&one).bytes().all(|letter| SAFE_LETTERS.contains(&letter))
        );
    }
}
