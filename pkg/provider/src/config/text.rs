use std::borrow::Cow;

use manifest::Value;

/// The text of a configuration value for use in a variable.
///
/// Shape: `None` for null. Lists and maps give the empty text. Numbers are written in full, without an exponent.
/// Source: clusterctl v1.14 through viper 1.21 (GetString).
pub(super) fn value_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::Bool(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if number.is_f64() => Cow::Owned(format!("{float}")),
            _ => Cow::Owned(number.to_string()),
        }),
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(_) | Value::Object(_) => Some(Cow::Borrowed("")),
    }
}

/// The type of a value in plain words, for messages.
pub(super) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
