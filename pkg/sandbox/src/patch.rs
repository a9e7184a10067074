//! Patches: JSON patch, merge patch, strategic merge patch.
//!
//! Each patch takes the served object and returns the patched object, before validation and defaults. Messages and
//! codes of errors match kube-apiserver 1.36, measured.

mod json;
mod strategic;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::{
    go,
    schema::Schema,
    status::{Details, Status},
};

/// Applies a JSON patch (RFC 6902) like the real server: `replace` adds missing fields, negative indexes count from the
/// end of a list, and a missing value equals null.
/// Errors: 400 if the patch is invalid, 413 if it has more than 10,000 operations, 422 if it does not fit the object.
pub(crate) fn json(object: &Value, patch: &Value) -> Result<Value, Status> {
    json::apply(object, patch)
}

/// Applies a merge patch (RFC 7386).
/// Errors: 400 if the patch is not an object.
pub(crate) fn merge(object: &Value, patch: &Value) -> Result<Value, Status> {
    let Value::Object(patch) = patch else {
        return Err(Status::bad_request(match patch {
            Value::Null => "Invalid JSON Patch".to_owned(),
            other => format!("error decoding patch: {}", no_object(other)),
        }));
    };
    let mut out = object.as_object().cloned().unwrap_or_default();
    merge_fields(&mut out, patch);
    Ok(Value::Object(out))
}

fn merge_fields(object: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (name, value) in patch {
        match (value, object.get_mut(name)) {
            (Value::Null, _) => {
                object.remove(name);
            }
            (Value::Object(patch), Some(Value::Object(live))) => merge_fields(live, patch),
            _ => {
                object.insert(name.clone(), without_nulls(value));
            }
        }
    }
}

/// Returns a value without null fields. Null items of lists stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Applies a strategic merge patch: merges lists with a merge key by item, and follows `$patch`, `$retainKeys`,
/// `$setElementOrder/…` and `$deleteFromPrimitiveList/…`.
/// Errors: 400 if the patch is invalid, 500 (as on the real server) if the patch does not fit the object.
pub(crate) fn strategic(object: &Value, patch: &Value, schema: Schema<'_>) -> Result<Value, Status> {
    match patch {
        Value::Null => Ok(object.clone()),
        Value::Object(patch) => {
            let object = object.as_object().cloned().unwrap_or_default();
            strategic::merge_maps(object, patch.clone(), schema).map(Value::Object)
        }
        other => Err(Status::bad_request(no_object(other))),
    }
}

fn no_object(value: &Value) -> String {
    format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", go::json_kind(value))
}

/// Returns the status that gives no details.
fn unprocessable() -> Status {
    Status::new(422, "Invalid", "the server rejected our request due to an error in our request")
        .with_details(Details::default())
}
