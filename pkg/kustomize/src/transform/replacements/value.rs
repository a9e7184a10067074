//! Reads and writes values and parts of values.

use manifest::{Value, YamlLimits, type_name, yaml};

use crate::kustomization::replacements::FieldOptions;

use super::path::{PathLookupError, TargetValue};

/// Returns the part of a value that the options of a source select.
/// # Errors
/// `Type` if the value is no text, `Part` if the text has too few parts.
pub(super) fn part_of(value: &Value, options: &FieldOptions) -> Result<Value, PathLookupError> {
    if options.delimiter.is_empty() {
        return Ok(value.clone());
    }
    let text = text_of(value)?;
    let mut parts = text.split(&options.delimiter);
    let wanted = usize::try_from(options.index).ok();
    let part = wanted.and_then(|index| parts.nth(index));
    part.map(|part| Value::String(part.to_owned())).ok_or_else(|| PathLookupError::Part {
        index: options.index,
        count: text.split(&options.delimiter).count(),
    })
}

/// Writes a value into a field, or into a part of its text.
/// # Errors
/// `Type` if the type of the field does not fit the value.
pub(super) fn write(
    field: TargetValue<'_>,
    value: &Value,
    options: &FieldOptions,
) -> Result<(), PathLookupError> {
    let (TargetValue::Existing(field) | TargetValue::New(field)) = field;
    // A created field is null too.
    let is_new = field.is_null();
    let value = if options.delimiter.is_empty() {
        value.clone()
    } else {
        let old = if is_new { String::new() } else { text_of(field)? };
        Value::String(with_part(&old, &text_of(value)?, options))
    };
    // A field keeps its type; a new field has the type of its text in YAML.
    *field = match (&*field, value) {
        (_, value @ (Value::Object(_) | Value::Array(_))) if is_new => value,
        (Value::Object(_) | Value::Array(_), value) => value,
        (field, value @ (Value::Object(_) | Value::Array(_))) => {
            return Err(PathLookupError::Type { expected: type_name(field), found: type_name(&value) });
        }
        (Value::String(_), value) => Value::String(text_of(&value)?),
        (field, value) => {
            let read = as_plain(&text_of(&value)?);
            if !is_new && type_name(field) != type_name(&read) {
                return Err(PathLookupError::Type { expected: type_name(field), found: type_name(&read) });
            }
            read
        }
    };
    Ok(())
}

/// Puts a value among the parts of a text: before them, behind them, or in place of one part.
fn with_part(text: &str, value: &str, options: &FieldOptions) -> String {
    let mut parts: Vec<&str> = text.split(&options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, value),
        Ok(index) if index < parts.len() => parts[index] = value,
        Ok(_) => parts.push(value),
    }
    parts.join(&options.delimiter)
}

/// Parses a text as an unquoted YAML scalar.
fn as_plain(text: &str) -> Value {
    match yaml::read_settings(text, &YamlLimits::default()) {
        Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

fn text_of(value: &Value) -> Result<String, PathLookupError> {
    match value {
        Value::Object(_) | Value::Array(_) => {
            Err(PathLookupError::Type { expected: "a single value", found: type_name(value) })
        }
        Value::String(text) => Ok(text.clone()),
        other => Ok(other.to_string()),
    }
}
