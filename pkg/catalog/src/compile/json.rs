//! JSON as Python prints it: two columns for each level, only ASCII.

use std::fmt::Write as _;

use serde_json::Value;

use crate::yaml::number_text;

/// Prints a value without a final line feed.
pub(super) fn write(value: &Value) -> String {
    let mut out = String::new();
    push(&mut out, value, 0);
    out
}

fn push(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => push_text(out, text),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Object(fields) if fields.is_empty() => out.push_str("{}"),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                start_line(out, index, level + 1);
                push(out, item, level + 1);
            }
            end(out, level, ']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                start_line(out, index, level + 1);
                push_text(out, key);
                out.push_str(": ");
                push(out, field, level + 1);
            }
            end(out, level, '}');
        }
    }
}

fn start_line(out: &mut String, index: usize, level: usize) {
    if index > 0 {
        out.push(',');
    }
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

fn end(out: &mut String, level: usize, bracket: char) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
    out.push(bracket);
}

pub(super) fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snapbox::{IntoData as _, assert_data_eq, str};

    use super::*;

    #[test]
    fn values_are_indented_and_escaped() {
        let value = json!({"b": [1, {"x": []}], "a": {}, "t": "é\n\u{1F600}\u{7f}", "f": [1.5, 1e20]});
        assert_data_eq!(
            write(&value),
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
