//! JSON with the fields in their order.
//!
//! Source: sops v3.13 stores/json; Go 1.26 encoding/json for texts and numbers.

use std::fmt;

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::SopsError;
use crate::tree::{Branch, Entry, Secret, Value};

/// The maximum nesting. Each level is scanned once more for its values.
const MAX_JSON_DEPTH: usize = 64;

/// Reads the object of a file. Text behind the object is ignored, as sops does.
///
/// # Errors
/// `Syntax` for invalid JSON, for a value other than an object, and for nesting over the limit.
pub(crate) fn read(text: &str) -> Result<Branch, SopsError> {
    // The message of the parser may quote a value, its position does not.
    let syntax = |error: &serde_json::Error| {
        let problem = format!("line {}, column {}: invalid JSON", error.line(), error.column());
        SopsError::Syntax { format: "JSON", problem }
    };
    let mut parser = serde_json::Deserializer::from_str(text);
    match (ValueAt { depth: 0 }).deserialize(&mut parser).map_err(|error| syntax(&error))? {
        Value::Branch(branch) => Ok(branch),
        _ => Err(SopsError::Syntax { format: "JSON", problem: "the file is no object".to_owned() }),
    }
}

/// Reads a value with its numbers as they are written. The parser of numbers loses the last digit of some floats.
#[derive(Clone, Copy)]
struct ValueAt {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for ValueAt {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => number(raw).ok_or_else(|| D::Error::custom("number out of range")),
            Some(b'[' | b'{') if self.depth == MAX_JSON_DEPTH => Err(D::Error::custom("nested too deeply")),
            _ => serde_json::Deserializer::from_str(raw).deserialize_any(self).map_err(D::Error::custom),
        }
    }
}

fn number(text: &str) -> Option<Value> {
    let integer = text.parse().ok().map(Value::Int);
    integer.or_else(|| text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float))
}

impl<'de> Visitor<'de> for ValueAt {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let inner = Self { depth: self.depth + 1 };
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut branch = Branch::new();
        let inner = Self { depth: self.depth + 1 };
        while let Some(key) = fields.next_key()? {
            branch.push(Entry::Field { key, value: fields.next_value_seed(inner)? });
        }
        Ok(Value::Branch(branch))
    }
}

/// Prints an object with tabs.
pub(crate) fn write(branch: &[Entry]) -> Result<Secret, SopsError> {
    let mut writer = Writer { out: Zeroizing::new(Vec::new()), depth: 0 };
    writer.branch(branch)?;
    writer.out.push(b'\n');
    Ok(writer.out)
}

struct Writer {
    out: Secret,
    depth: usize,
}

impl Writer {
    fn branch(&mut self, branch: &[Entry]) -> Result<(), SopsError> {
        self.enclosed(*b"{}", branch.iter().filter_map(Entry::as_field), |writer, (key, value)| {
            writer.text(key.as_bytes());
            writer.out.extend_from_slice(b": ");
            writer.value(value)
        })
    }

    fn list(&mut self, items: &[Value]) -> Result<(), SopsError> {
        let values = items.iter().filter(|item| !matches!(item, Value::Comment(_)));
        self.enclosed(*b"[]", values, Self::value)
    }

    fn enclosed<T>(
        &mut self,
        brackets: [u8; 2],
        items: impl Iterator<Item = T>,
        write: impl Fn(&mut Self, T) -> Result<(), SopsError>,
    ) -> Result<(), SopsError> {
        self.out.push(brackets[0]);
        self.depth += 1;
        let mut is_empty = true;
        for item in items {
            if !is_empty {
                self.out.push(b',');
            }
            is_empty = false;
            self.new_line();
            write(self, item)?;
        }
        self.depth -= 1;
        if !is_empty {
            self.new_line();
        }
        self.out.push(brackets[1]);
        Ok(())
    }

    fn new_line(&mut self) {
        self.out.push(b'\n');
        self.out.extend(std::iter::repeat_n(b'\t', self.depth));
    }

    fn value(&mut self, value: &Value) -> Result<(), SopsError> {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(flag) => self.out.extend_from_slice(flag.to_string().as_bytes()),
            Value::Int(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::Float(number) if number.is_finite() => {
                self.out.extend_from_slice(float_text(*number).as_bytes());
            }
            Value::Float(_) => {
                let problem = "infinity and not-a-number have no form in JSON".to_owned();
                return Err(SopsError::Output { format: "JSON", problem });
            }
            Value::Text(text) => self.text(text),
            Value::Time(time) => self.text(time.as_bytes()),
            Value::Comment(comment) => self.text(&comment.text),
            Value::List(items) => return self.list(items),
            Value::Branch(branch) => return self.branch(branch),
        }
        Ok(())
    }

    /// Writes a text with the escapes of Go, which also escapes the characters of HTML.
    fn text(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                self.character(character);
            }
            for _ in chunk.invalid() {
                self.out.extend_from_slice(b"\\ufffd");
            }
        }
        self.out.push(b'"');
    }

    fn character(&mut self, character: char) {
        let short = match character {
            '"' | '\\' => character,
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let escape = format!("\\u{:04x}", u32::from(character));
                return self.out.extend_from_slice(escape.as_bytes());
            }
            _ => return self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        };
        self.out.extend([b'\\', short as u8]);
    }
}

/// Returns the shortest digits, with an exponent below `1e-6` and from `1e21`.
fn float_text(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        return if size < 1.0 { text } else { text.replace('e', "e+") };
    }
    number.to_string()
}
