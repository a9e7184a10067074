//! `toYamlPretty`: YAML with indented lists.
//!
//! Source: go.yaml.in/yaml/v3 3.0.4 with an indent of 2, as Helm 3.22 calls it.

use manifest::yaml;

use crate::fault::Fault;
use crate::format::{Float, push_float};
use crate::value::{Map, NESTING, TEXT_BYTES, TooDeep, Value};

const INDENT: usize = 2;

/// Prints a value without the last line break.
pub(super) fn write(value: &Value) -> Result<String, Fault> {
    let mut out = String::new();
    node(&mut out, value, 0, 0)?;
    let length = out.trim_end_matches('\n').len();
    out.truncate(length);
    Ok(out)
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::List(list) => !list.is_empty(),
        Value::Map(map) => !map.is_empty(),
        _ => false,
    }
}

fn node(out: &mut String, value: &Value, column: usize, depth: usize) -> Result<(), TooDeep> {
    if depth > NESTING || out.len() > TEXT_BYTES {
        return Err(TooDeep);
    }
    match value {
        Value::Map(map) if !map.is_empty() => crate::stack::grow(|| mapping(out, map, column, depth)),
        Value::List(list) if !list.is_empty() => {
            for (index, item) in list.iter().enumerate() {
                if index > 0 || out.ends_with('\n') {
                    out.extend(std::iter::repeat_n(' ', column));
                }
                out.push_str("- ");
                crate::stack::grow(|| node(out, item, column + INDENT, depth + 1))?;
            }
            Ok(())
        }
        Value::Object(object) => crate::stack::grow(|| node(out, &object.plain(), column, depth + 1)),
        _ => {
            scalar(out, value, column);
            out.push('\n');
            Ok(())
        }
    }
}

fn mapping(out: &mut String, map: &Map, column: usize, depth: usize) -> Result<(), TooDeep> {
    // The order of keys is that of the other printer.
    let keys: serde_json::Map<_, _> =
        map.entries().keys().map(|key| (key.to_str().into_owned(), serde_json::Value::Null)).collect();
    let sorted = yaml::write(&serde_json::Value::Object(keys));
    let mut entries = map.to_vec();
    let position = |key: &str| sorted.lines().position(|line| line == format!("{}: null", quoted(key)));
    entries.sort_by_key(|(key, _)| position(&key.to_str()));
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 || out.ends_with('\n') {
            out.extend(std::iter::repeat_n(' ', column));
        }
        out.push_str(&quoted(&key.to_str()));
        out.push(':');
        let is_nested = is_block(value);
        out.push(if is_nested { '\n' } else { ' ' });
        node(out, value, column + INDENT, depth + 1)?;
    }
    Ok(())
}

/// Returns a text with the quotes that it needs.
fn quoted(text: &str) -> String {
    let written = yaml::write(&serde_json::Value::String(text.to_owned()));
    written.trim_end_matches('\n').to_owned()
}

fn scalar(out: &mut String, value: &Value, column: usize) {
    match value {
        Value::Missing | Value::Nil => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) | Value::Int64(number) => out.push_str(&number.to_string()),
        Value::Uint8(number) => out.push_str(&number.to_string()),
        Value::Uint64(number) => out.push_str(&number.to_string()),
        Value::Float(number) if number.is_nan() => out.push_str(".nan"),
        Value::Float(number) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { ".inf" } else { "-.inf" });
        }
        Value::Float(number) => push_float(out, *number, Float::General, None),
        Value::String(text) => string(out, &text.to_str(), column),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
        Value::Object(_) => {}
    }
}

fn string(out: &mut String, text: &str, column: usize) {
    // Below a key the printer would wrap long lines, which this one does not.
    let written = yaml::write(&serde_json::Value::String(text.to_owned()));
    let written = written.trim_end_matches('\n');
    let is_literal = written.starts_with('|');
    if !is_literal && text.contains(' ') && written.contains('\n') && !text.contains('\n') {
        let joined = written.lines().map(str::trim_start).collect::<Vec<_>>().join(" ");
        return out.push_str(&joined);
    }
    for (index, line) in written.lines().enumerate() {
        if index > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.extend(std::iter::repeat_n(' ', column.saturating_sub(INDENT)));
            }
        }
        out.push_str(line);
    }
}
