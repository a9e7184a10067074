//! Removes values of Secrets from errors: a server may repeat the request body.

use manifest::Value;

use super::call::ApiCall;
use crate::ApiError;

const REDACTED: &str = "***";
/// The minimum length of a removed value. Shorter values would remove single letters from every sentence.
const MIN_CHARS: usize = 3;

/// Removes the sent values from an error about a Secret.
pub(super) fn redact(mut error: ApiError, call: &ApiCall) -> ApiError {
    let Some(body) = call.body.as_ref().filter(|_| call.is_secret) else { return error };
    let sent: Value = serde_json::from_slice(&body.bytes).unwrap_or_default();
    let mut values = Vec::new();
    collect(&sent, &mut values);
    // Longer values come first, because a value may be part of a longer one.
    values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
    if let ApiError::Status { message, causes, .. } = &mut error {
        for value in values {
            *message = message.replace(value, REDACTED);
            for cause in &mut *causes {
                cause.message = cause.message.replace(value, REDACTED);
            }
        }
    }
    error
}

/// Collects all strings except those that identify the object.
fn collect<'v>(value: &'v Value, values: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if text.len() >= MIN_CHARS => values.push(text),
        Value::Array(list) => list.iter().for_each(|value| collect(value, values)),
        Value::Object(fields) => {
            let public_fields = ["apiVersion", "kind", "metadata", "type", "op", "path"];
            let hidden = fields.iter().filter(|(key, _)| !public_fields.contains(&key.as_str()));
            hidden.for_each(|(_, value)| collect(value, values));
        }
        _ => {}
    }
}
