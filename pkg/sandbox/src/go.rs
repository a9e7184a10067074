//! Values in Go syntax, for messages that quote them.
//!
//! Source: Go 1.26 `fmt`, `strconv.Quote`.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Formats a value like `%v`: `map[a:1 b:[x y]]`, `<nil>`, text without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => self::number(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}:{}", plain(value))).collect();
            format!("map[{}]", fields.join(" "))
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
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}:{}", quoted(name), syntax(value))).collect();
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

/// Formats a number like `%v`: a float below 1e-4 or from 1e21 on with an exponent.
fn number(number: &Number) -> String {
    if let Some(value) = number.as_i64() {
        return value.to_string();
    }
    let value = number.as_f64().unwrap_or(f64::INFINITY);
    if value == 0.0 || (1e-4..1e21).contains(&value.abs()) {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
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
    }

    #[test]
    fn strings_are_escaped_like_go() {
        assert_eq!(quoted("a\"b\\c\n\u{1}ü"), "\"a\\\"b\\\\c\\n\\x01ü\"");
        assert_eq!(quoted("a\"\\\n\u{1}\u{85}é"), "\"a\\\"\\\\\\n\\x01\\u0085é\"");
    }

    #[test]
    fn floats_are_printed_like_go() {
        for (value, expected) in [(1.0, "1"), (0.000_01, "1e-05"), (1e21, "1e+21"), (2.5e-7, "2.5e-07")] {
            assert_eq!(plain(&json!(value)), expected);
        }
    }
}
