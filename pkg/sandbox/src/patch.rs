//! Patches: JSON patch, merge patch, strategic merge patch.
//!
//! Each takes the object as it is served and gives the patched one, not yet checked or defaulted. Words and codes of
//! errors are those of kube-apiserver 1.36, measured.

mod json;
mod order;
mod strategic;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::{
    go,
    schema::Schema,
    status::{Details, Status},
};

/// Applies a JSON patch (RFC 6902) as the real server does: `replace` adds what is missing, negative numbers count from
/// the end of a list, and what is missing equals null.
/// Fails with 400 when it is no patch, 413 when it has more than 10,000 operations, 422 when it does not fit the
/// object.
pub(crate) fn json(object: &Value, patch: &Value) -> Result<Value, Status> {
    json::apply(object, patch)
}

/// Applies a merge patch (RFC 7386).
/// Fails with 400 when it is no object.
pub(crate) fn merge(object: &Value, patch: &Value) -> Result<Value, Status> {
    let Value::Object(patch) = patch else {
        return Err(bad_request(match patch {
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

/// A value without the fields that are null. Null items of lists stay.
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

/// Applies a strategic merge patch: lists with a merge key are merged by item, and `$patch`, `$retainKeys`,
/// `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are obeyed.
/// Fails with 400 when it is no such patch, 500 (as the real server has it) when it does not fit the object.
pub(crate) fn strategic(object: &Value, patch: &Value, schema: Schema<'_>) -> Result<Value, Status> {
    match patch {
        Value::Null => Ok(object.clone()),
        Value::Object(patch) => {
            let object = object.as_object().cloned().unwrap_or_default();
            strategic::merge_maps(object, patch.clone(), schema).map(Value::Object)
        }
        other => Err(bad_request(no_object(other))),
    }
}

fn no_object(value: &Value) -> String {
    format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", go::json_kind(value))
}

fn bad_request(message: String) -> Status {
    Status { code: 400, reason: "BadRequest", message, details: None }
}

/// What the real server answers to errors nobody gave a code.
fn internal(message: String) -> Status {
    Status { code: 500, reason: "", message, details: None }
}

/// The answer that does not tell what is wrong.
fn unprocessable() -> Status {
    Status {
        code: 422,
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request".to_owned(),
        details: Some(Box::new(Details::default())),
    }
}
