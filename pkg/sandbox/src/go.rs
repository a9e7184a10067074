//! Values in Go syntax, for messages that quote them.
//!
//! Source: Go 1.26 `fmt`, `strconv.Quote`, `encoding/json`.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Formats a value like `%v`: `map[a:1 b:[x y]]`, `<nil>`, text without quotes.
pub(crate) fn plain(value: &Value) -> String {
    let mut out = String::new();
    write_plain(value, &mut out);
    out
}

fn write_plain(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&self::number(number, ShortFloat::From21)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                write_plain(item, out);
            }
            out.push(']');
        }
        Value::Object(_) => {
            out.push_str("map[");
            for (i, (name, value)) in sorted(value).into_iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                out.push_str(name);
                out.push(':');
                write_plain(value, out);
            }
            out.push(']');
        }
    }
}

/// Formats a value like `%#v`: `map[string]interface {}{"a":1}`.
pub(crate) fn syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => quoted(text),
        Value::Bool(_) | Value::Number(_) => plain(value),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(_) => {
            let fields: Vec<String> = sorted(value)
                .into_iter()
                .map(|(name, value)| format!("{}:{}", quoted(name), syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

/// Returns the name of a value's type in messages of Go's JSON decoder.
pub(crate) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the type of a value like `%T`.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Formats text like `%q`: quoted, with unprintable characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if u32::from(c) < 0x80 && c.is_control() => push_escape(&mut out, "\\x", c, 2),
            c if c.is_control() || (c.is_whitespace() && c != ' ') => push_escape(&mut out, "\\u", c, 4),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn push_escape(out: &mut String, prefix: &str, c: char, digits: usize) {
    out.push_str(prefix);
    write!(out, "{:0digits$x}", u32::from(c)).expect("a String takes everything");
}

/// Formats a value like `encoding/json`: names sorted; `<`, `>`, `&` and the line separators escaped.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&self::number(number, ShortFloat::Json)),
        Value::String(text) => json_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(_) => {
            out.push('{');
            for (i, (name, value)) in sorted(value).into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                json_string(name, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
    }
}

/// Writes a string literal like `encoding/json`.
pub(crate) fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => push_escape(out, "\\u", c, 4),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The magnitudes at which Go writes a float with an exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShortFloat {
    /// `%v`: below 1e-4 and from 1e21.
    From21,
    /// `encoding/json`: below 1e-6 and from 1e21, with no leading zero in the exponent.
    Json,
}

fn number(number: &Number, style: ShortFloat) -> String {
    if let Some(value) = number.as_i64() {
        return value.to_string();
    }
    let value = number.as_f64().unwrap_or(f64::INFINITY);
    let low = if style == ShortFloat::Json { 1e-6 } else { 1e-4 };
    if value == 0.0 || (low..1e21).contains(&value.abs()) {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    let pad = if style == ShortFloat::From21 && exponent.len() < 2 { "0" } else { "" };
    format!("{digits}e{sign}{pad}{exponent}")
}

/// Returns the fields of an object by name, in Go's print order.
fn sorted(object: &Value) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = object.as_object().into_iter().flatten().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_formatted_like_go() {
        let value = json!({"b": [1, "x", null], "a": {"c": 2.5, "d": true}});
        assert_eq!(plain(&value), "map[a:map[c:2.5 d:true] b:[1 x <nil>]]");
        assert_eq!(
            syntax(&value),
            "map[string]interface {}{\"a\":map[string]interface {}{\"c\":2.5, \"d\":true}, \
             \"b\":[]interface {}{1, \"x\", interface {}(nil)}}"
        );
        assert_eq!(json(&value), r#"{"a":{"c":2.5,"d":true},"b":[1,"x",null]}"#);
    }

    #[test]
    fn strings_are_escaped_like_go() {
        assert_eq!(quoted("a\"b\\c\n\u{1}ü"), "\"a\\\"b\\\\c\\n\\x01ü\"");
        assert_eq!(quoted("a\"\\\n\u{1}\u{85}é"), "\"a\\\"\\\\\\n\\x01\\u0085é\"");
        assert_eq!(json(&json!("<a&b>\u{2028}")), r#""\u003ca\u0026b\u003e\u2028""#);
    }

    #[test]
    fn floats_are_printed_like_go() {
        for (value, expected_plain, expected_json) in [
            (1.0, "1", "1"),
            (0.000_01, "1e-05", "0.00001"),
            (1e21, "1e+21", "1e+21"),
            (2.5e-7, "2.5e-07", "2.5e-7"),
        ] {
            assert_eq!(plain(&json!(value)), expected_plain);
            assert_eq!(json(&json!(value)), expected_json);
        }
    }
}
