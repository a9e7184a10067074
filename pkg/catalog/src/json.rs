//! JSON as Python prints it: only ASCII.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::yaml::number_text;

/// The style of JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonStyle {
    /// The columns of a level. None for one line.
    pub(crate) indent: Option<usize>,
    /// Prints a number.
    pub(crate) number: fn(&Number) -> String,
    /// Escapes the characters of HTML.
    pub(crate) is_html_safe: bool,
}

impl JsonStyle {
    /// The style of compiled files.
    pub(crate) const COMPILED: Self = Self { indent: Some(2), number: number_text, is_html_safe: false };
}

/// Prints a value without a final line feed.
pub(crate) fn write(value: &Value, style: JsonStyle) -> String {
    let mut out = String::new();
    push(&mut out, value, style, 0);
    out
}

fn push(out: &mut String, value: &Value, style: JsonStyle, level: usize) {
    match value {
        Value::Number(number) => out.push_str(&(style.number)(number)),
        Value::String(text) => push_text(out, text, style.is_html_safe),
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                start_item(out, index, style, level + 1);
                push(out, item, style, level + 1);
            }
            start_line(out, style, level);
            out.push(']');
        }
        Value::Object(fields) if !fields.is_empty() => {
            out.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                start_item(out, index, style, level + 1);
                push_text(out, key, style.is_html_safe);
                out.push_str(": ");
                push(out, field, style, level + 1);
            }
            start_line(out, style, level);
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn start_item(out: &mut String, index: usize, style: JsonStyle, level: usize) {
    if index > 0 {
        out.push_str(if style.indent.is_some() { "," } else { ", " });
    }
    start_line(out, style, level);
}

fn start_line(out: &mut String, style: JsonStyle, level: usize) {
    if let Some(width) = style.indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width * level));
    }
}

/// Prints a text, with the characters of HTML as they are, or escaped.
pub(crate) fn push_text(out: &mut String, text: &str, is_html_safe: bool) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' if !(is_html_safe && matches!(character, '<' | '>' | '&' | '\'')) => {
                out.push(character);
            }
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snapbox::{IntoData as _, assert_data_eq, str};

    use super::*;

    #[test]
    fn values_are_indented_and_escaped() {
        let value = json!({"b": [1, {"x": []}], "a": {}, "t": "é\n\u{1F600}\u{7f}", "f": [1.5, 1e20]});
        assert_data_eq!(
            write(&value, JsonStyle::COMPILED),
            str![[r#"
{
  "a": {},
  "b": [
    1,
    {
      "x": []
    }
  ],
  "f": [
    1.5,
    100000000000000000000
  ],
  "t": "\u00e9\n\ud83d\ude00\u007f"
}
"#]]
            .raw()
        );
    }
}
