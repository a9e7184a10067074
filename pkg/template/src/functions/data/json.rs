//! JSON, as Go's `encoding/json` reads and writes it.

use std::fmt::Write as _;

use super::super::Arguments as _;
use super::super::table::made;
use super::super::table::{Result, Row};
use super::error_value;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::format::{Float, push_float};
use crate::value::{Elem, List, Map, NESTING, Shared, TEXT_BYTES, TooDeep, Value};

pub(super) const SPRIG: &[Row] = &[
    ("toJson", "a", |run, args| write(run, args, COMPACT, false)),
    ("mustToJson", "a", |run, args| write(run, args, COMPACT, true)),
    ("toPrettyJson", "a", |run, args| write(run, args, PRETTY, false)),
    ("mustToPrettyJson", "a", |run, args| write(run, args, PRETTY, true)),
    ("toRawJson", "a", |run, args| write(run, args, RAW, true)),
    ("mustToRawJson", "a", |run, args| write(run, args, RAW, true)),
    ("fromJson", "s", |run, args| {
        run.session().create(args.text(0).len())?;
        Ok(read(&args.utf8(0)).unwrap_or(Value::Nil))
    }),
    ("mustFromJson", "s", |run, args| {
        run.session().create(args.text(0).len())?;
        Ok(read(&args.utf8(0))?)
    }),
];

pub(super) const HELM: &[Row] = &[
    ("fromJson", "s", |run, args| from_json(run, args, false)),
    ("fromJsonArray", "s", |run, args| from_json(run, args, true)),
];

#[derive(Clone, Copy)]
struct Style {
    escapes_html: bool,
    is_indented: bool,
}

const COMPACT: Style = Style { escapes_html: true, is_indented: false };
const PRETTY: Style = Style { escapes_html: true, is_indented: true };
const RAW: Style = Style { escapes_html: false, is_indented: false };

/// A value that JSON does not have.
enum Unwritable {
    TooDeep(TooDeep),
    Number(f64),
}

fn write(run: &mut dyn Engine, args: &[Value], style: Style, is_must: bool) -> Result {
    let mut out = String::new();
    match push(&mut out, args.value(0), style, 0) {
        Ok(()) => made(run, out),
        Err(Unwritable::TooDeep(error)) => Err(error.into()),
        Err(Unwritable::Number(number)) if is_must => {
            let shown = if number.is_nan() {
                "NaN"
            } else if number > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            Err(Fault::new(format!("json: unsupported value: {shown}")))
        }
        Err(Unwritable::Number(_)) => Ok("".into()),
    }
}

fn push(out: &mut String, value: &Value, style: Style, depth: usize) -> std::result::Result<(), Unwritable> {
    if depth > NESTING || out.len() > TEXT_BYTES {
        return Err(Unwritable::TooDeep(TooDeep));
    }
    match value {
        Value::Missing | Value::Nil => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(number) | Value::Int64(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Uint8(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Uint64(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Float(number) if !number.is_finite() => return Err(Unwritable::Number(*number)),
        Value::Float(number) => push_number(out, *number),
        Value::String(text) => push_string(out, text, style.escapes_html),
        Value::List(list) => return crate::stack::grow(|| push_list(out, list, style, depth + 1)),
        Value::Map(map) => return crate::stack::grow(|| push_map(out, map, style, depth + 1)),
        Value::Object(object) => return crate::stack::grow(|| push_object(out, object, style, depth + 1)),
    }
    Ok(())
}

/// Appends a number: with an exponent only below 10⁻⁶ and from 10²¹ on.
fn push_number(out: &mut String, number: f64) {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let mut text = String::new();
        push_float(&mut text, number, Float::Exponent, None);
        // One digit is enough for a small negative exponent.
        out.push_str(&text.replace("e-0", "e-"));
    } else {
        push_float(out, number, Float::Plain, None);
    }
}

fn push_string(out: &mut String, text: &[u8], escapes_html: bool) {
    out.push('"');
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => {
                    out.push('\\');
                    out.push(character);
                }
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\x08' => out.push_str("\\b"),
                '\x0C' => out.push_str("\\f"),
                '<' | '>' | '&' if escapes_html => {
                    let _ = write!(out, "\\u{:04x}", u32::from(character));
                }
                '\0'..='\x1F' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(out, "\\u{:04x}", u32::from(character));
                }
                _ => out.push(character),
            }
        }
        for _ in chunk.invalid() {
            out.push_str("\\ufffd");
        }
    }
    out.push('"');
}

fn new_line(out: &mut String, style: Style, depth: usize) {
    if style.is_indented {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

fn push_list(
    out: &mut String,
    list: &List,
    style: Style,
    depth: usize,
) -> std::result::Result<(), Unwritable> {
    if list.is_nil() {
        out.push_str("null");
        return Ok(());
    }
    if let Some(bytes) = list.as_bytes() {
        let text = super::super::table::base64(&bytes);
        push_string(out, text.as_bytes(), style.escapes_html);
        return Ok(());
    }
    out.push('[');
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        new_line(out, style, depth);
        push(out, item, style, depth)?;
    }
    if !list.is_empty() {
        new_line(out, style, depth - 1);
    }
    out.push(']');
    Ok(())
}

fn push_map(out: &mut String, map: &Map, style: Style, depth: usize) -> std::result::Result<(), Unwritable> {
    if map.is_nil() {
        out.push_str("null");
        return Ok(());
    }
    let entries = map.entries();
    push_fields(out, entries.iter().map(|(key, value)| (&**key, value)), style, depth)
}

fn push_object(
    out: &mut String,
    object: &Shared,
    style: Style,
    depth: usize,
) -> std::result::Result<(), Unwritable> {
    match object.json_fields() {
        Some(fields) => {
            push_fields(out, fields.iter().map(|(key, value)| (key.as_bytes(), value)), style, depth)
        }
        None => push(out, &object.plain(), style, depth),
    }
}

fn push_fields<'f>(
    out: &mut String,
    fields: impl Iterator<Item = (&'f [u8], &'f Value)>,
    style: Style,
    depth: usize,
) -> std::result::Result<(), Unwritable> {
    out.push('{');
    let mut is_empty = true;
    for (key, value) in fields {
        if !is_empty {
            out.push(',');
        }
        is_empty = false;
        new_line(out, style, depth);
        push_string(out, key, style.escapes_html);
        out.push_str(if style.is_indented { ": " } else { ":" });
        push(out, value, style, depth)?;
    }
    if !is_empty {
        new_line(out, style, depth - 1);
    }
    out.push('}');
    Ok(())
}

/// The functions of the component runtime: all fail on bad input.
pub(super) const STRICT: &[Row] = &[
    ("toJson", "a", |run, args| write(run, args, COMPACT, true)),
    ("toPrettyJson", "a", |run, args| write(run, args, PRETTY, true)),
    ("fromJson", "s", strict_from_json),
    ("mustFromJson", "s", strict_from_json),
    ("fromJsonArray", "s", strict_from_json_array),
    ("mustFromJsonArray", "s", strict_from_json_array),
];

fn strict_from_json(run: &mut dyn Engine, args: &[Value]) -> Result {
    run.session().create(args.text(0).len())?;
    Ok(read(&args.utf8(0))?)
}

fn strict_from_json_array(run: &mut dyn Engine, args: &[Value]) -> Result {
    super::list_or_fault(strict_from_json(run, args)?)
}

/// Reads a JSON text; the error is in Go's words where they are known.
fn read(text: &str) -> std::result::Result<Value, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| message(text, &error))?;
    Ok(Value::from_json(&value))
}

fn message(text: &str, error: &serde_json::Error) -> String {
    if error.is_eof() || text.trim().is_empty() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let at = error.column().saturating_sub(1);
    // Go reads bytes.
    match line.as_bytes().get(at) {
        Some(byte) => {
            let character = char::from(*byte);
            let shown = if character == '\'' { "'\\''".to_owned() } else { format!("'{character}'") };
            if let Some((literal, expected)) = cut_literal(line.get(..at).unwrap_or_default()) {
                return format!("invalid character {shown} in literal {literal} (expecting '{expected}')");
            }
            let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at));
            let place = match before {
                Some(b'-') => "in numeric literal",
                Some(b'0') if character.is_ascii_digit() => "after top-level value",
                _ if error.to_string().contains("trailing") => "after top-level value",
                _ => "looking for beginning of value",
            };
            format!("invalid character {shown} {place}")
        }
        None => "unexpected end of JSON input".to_owned(),
    }
}

/// Returns the literal that a text begins at its end, with the next character of it.
fn cut_literal(text: &str) -> Option<(&'static str, char)> {
    let word = &text[text.trim_end_matches(|character: char| character.is_ascii_lowercase()).len()..];
    let literals = ["true", "false", "null"];
    let literal = literals.into_iter().find(|literal| !word.is_empty() && literal.starts_with(word))?;
    Some((literal, literal[word.len()..].chars().next()?))
}

fn from_json(run: &mut dyn Engine, args: &[Value], is_list: bool) -> Result {
    let text = args.utf8(0);
    run.session().create(text.len())?;
    let value: serde_json::Value = match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(error) => return Ok(error_value(message(&text, &error), is_list)),
    };
    if let Some(collection) = super::as_collection(&value, is_list) {
        // A null makes a map nil.
        let is_nil = value.is_null();
        return Ok(match is_nil {
            true if is_list => Value::List(List::nil(Elem::Any)),
            true => Value::Map(Map::nil()),
            false => collection,
        });
    }
    let found = match &value {
        serde_json::Value::Array(_) => "array",
        serde_json::Value::Object(_) => "object",
        serde_json::Value::String(_) => "string",
        serde_json::Value::Bool(_) => "bool",
        _ => "number",
    };
    let wanted = if is_list { "[]interface {}" } else { "map[string]interface {}" };
    let message = format!("json: cannot unmarshal {found} into Go value of type {wanted}");
    Ok(error_value(message, is_list))
}
