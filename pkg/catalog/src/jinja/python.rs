//! The text of values, as Python prints them.

use std::fmt::Write as _;

use minijinja::value::ValueKind;
use minijinja::{Error, Output, State, Value};

use crate::json::{JsonStyle, write};
use crate::yaml::float_text;

/// Prints a value into a template. An `if` without `else` has an undefined value, which is empty; the engine refuses other
/// undefined values.
pub(super) fn format(out: &mut Output, _state: &mut State, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Ok(());
    }
    out.write_str(&text(value)).map_err(Error::from)
}

/// Returns the text of a value.
pub(super) fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => literal(value),
    }
}

/// Returns a value as it is written in Python.
pub(super) fn literal(value: &Value) -> String {
    match value.kind() {
        ValueKind::None => "None".to_owned(),
        ValueKind::Bool => if value.is_true() { "True" } else { "False" }.to_owned(),
        ValueKind::Number => number(value),
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<_> = value.try_iter().into_iter().flatten().map(|item| literal(&item)).collect();
            match (value.is_tuple(), &items[..]) {
                (true, [item]) => format!("({item},)"),
                (true, items) => format!("({})", items.join(", ")),
                (false, items) => format!("[{}]", items.join(", ")),
            }
        }
        ValueKind::Map => {
            let keys = value.try_iter().into_iter().flatten();
            let field = |key: Value| {
                let field = value.get_item(&key).map_or_else(|_| String::new(), |field| literal(&field));
                format!("{}: {field}", literal(&key))
            };
            format!("{{{}}}", keys.map(field).collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}

fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    f64::try_from(value.clone()).map_or_else(|_| value.to_string(), float_text)
}

/// Returns a text as it is written in Python.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if character == quote => out.extend(['\\', quote]),
            _ if character.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push(quote);
    out
}

/// Returns a value as the filter `tojson` prints it: with sorted keys, and without the characters of HTML.
pub(super) fn json(value: &serde_json::Value, indent: Option<usize>) -> String {
    let number = |number: &serde_json::Number| match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => float_text(float),
        None => number.to_string(),
    };
    write(value, JsonStyle { indent, number, is_html_safe: true })
}
