//! Keeps out of errors what Secrets hold: a server may repeat what it was sent.

use manifest::Value;

use super::call::Call;
use crate::ApiError;

const CONCEALED: &str = "***";
/// Shorter values would take single letters out of every sentence.
const SHORTEST: usize = 3;

/// Takes the values that were sent out of an error about a Secret.
pub(super) fn conceal(mut error: ApiError, call: &Call) -> ApiError {
    let Some(body) = call.body.as_ref().filter(|_| call.is_secret) else { return error };
    let sent: Value = serde_json::from_slice(&body.bytes).unwrap_or_default();
    let mut values = Vec::new();
    collect(&sent, &mut values);
    // A value that is part of another must not leave the rest of it.
    values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
    if let ApiError::Status { message, causes, .. } = &mut error {
        for value in values {
            *message = message.replace(value, CONCEALED);
            for cause in &mut *causes {
                cause.message = cause.message.replace(value, CONCEALED);
            }
        }
    }
    error
}

/// All texts but those that say which object it is.
fn collect<'v>(value: &'v Value, values: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if text.len() >= SHORTEST => values.push(text),
        Value::Array(list) => list.iter().for_each(|value| collect(value, values)),
        Value::Object(fields) => {
            let told = ["apiVersion", "kind", "metadata", "type", "op", "path"];
            let hidden = fields.iter().filter(|(key, _)| !told.contains(&key.as_str()));
            hidden.for_each(|(_, value)| collect(value, values));
        }
        _ => {}
    }
}
