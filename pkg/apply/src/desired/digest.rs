//! Digests that show if an object has changed.

use data_encoding::HEXLOWER;
use manifest::{Map, Object, Value};
use sha2::{Digest, Sha256};

use crate::ReconcilePolicy;

/// The digest of objects that are never changed after their creation.
pub(crate) const ONCE_DIGEST: &str = "__once__";

/// Returns the digest of an object under a policy.
/// Source: component-operator-runtime (digest of a dependent object).
pub(super) fn digest_for(object: &Object, policy: ReconcilePolicy, component: Option<&str>) -> String {
    match (policy, component) {
        (ReconcilePolicy::Once, _) => ONCE_DIGEST.to_owned(),
        (ReconcilePolicy::OnObjectOrComponentChange, Some(component)) => {
            format!("{}@{component}", digest(object))
        }
        (ReconcilePolicy::OnObjectOrComponentChange | ReconcilePolicy::OnObjectChange, _) => digest(object),
    }
}

/// Returns the hex SHA-256 of an object's JSON with sorted keys and without spaces. The order of fields in a manifest,
/// or in the JSON library, does not matter. Clusters store digests, so this function must never change.
fn digest(object: &Object) -> String {
    let mut text = String::new();
    write_fields(object.as_map(), &mut text);
    HEXLOWER.encode(&Sha256::digest(text))
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => write_fields(fields, text),
        Value::Array(items) => {
            text.push('[');
            for (nth, item) in items.iter().enumerate() {
                if nth > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
            text.push_str(&value.to_string());
        }
    }
}

fn write_fields(fields: &Map<String, Value>, text: &mut String) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    text.push('{');
    for (nth, (key, value)) in sorted.into_iter().enumerate() {
        if nth > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(key.as_str()).to_string());
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}
