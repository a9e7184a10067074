//! YAML as PyYAML reads and prints it: YAML 1.1, in which `yes` is a boolean and `0o17` is text.
//!
//! ```text
//! text ─► read (granit-parser, scalar) ─► Value ─► write (analysis, layout) ─► text
//! ```
//!
//! Differs: a mapping key that is no text becomes its text, a date becomes text, and so does a number over 64 bits.

use serde_json::Value;

mod analysis;
mod layout;
mod number;
mod read;
mod scalar;
mod text;
mod write;

pub(crate) use number::{float_text, json_text as number_text};
pub(crate) use read::YamlError;
pub(crate) use read::read_documents;
pub(crate) use write::{YamlStyle, write_document, write_documents};

/// True for the values that Python counts as false: null, false, zero, and empty texts, lists and mappings.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
