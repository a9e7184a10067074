//! The text of values, as Python prints them.

use std::fmt::Write as _;

use minijinja::value::ValueKind;
use minijinja::{Error, Output, State, Value};

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
    let mut out = String::new();
    push_json(&mut out, value, indent, 0);
    out
}

fn push_json(out: &mut String, value: &serde_json::Value, indent: Option<usize>, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        if let Some(width) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * depth));
        }
    };
    let separator = if indent.is_some() { "," } else { ", " };
    match value {
        serde_json::Value::String(text) => push_json_text(out, text),
        serde_json::Value::Number(number) if number.is_f64() => {
            out.push_str(&float_text(number.as_f64().unwrap_or_default()));
        }
        serde_json::Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { separator } else { "" });
                line(out, depth + 1);
                push_json(out, item, indent, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
        serde_json::Value::Object(fields) if !fields.is_empty() => {
            out.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                out.push_str(if index > 0 { separator } else { "" });
                line(out, depth + 1);
                push_json_text(out, key);
                out.push_str(": ");
                push_json(out, field, indent, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn push_json_text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '<' | '>' | '&' | '\'' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}
