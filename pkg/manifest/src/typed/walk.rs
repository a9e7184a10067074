use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::{DecodeError, Engine as _};
use serde_json::{Map, Number, Value};

use super::time;
use crate::builtin::{self, Definition, Field, Form, SchemaAlternative, ValueType};
use crate::duration::nanoseconds;
use crate::go_formats::BASE64;
use crate::object::type_name;
use crate::quantity;

/// A value that does not fit its field.
#[derive(Debug)]
pub(super) struct Mismatch {
    pub(super) path: String,
    pub(super) expected: &'static str,
    pub(super) found: String,
}

/// The maximum nesting, equal to the limit of the reader. The walk is recursive, and the calling threads have small
/// stacks. Real schemas have fewer than 60 levels.
const DEPTH_LIMIT: usize = 1_000;

const DURATION: &str = "a duration such as `10m`";

/// The position of a value, linked to its parent on the stack; only errors need the path.
#[derive(Clone, Copy)]
struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    step: Step<'a>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

/// Rewrites the fields of an object like decoding into a struct and encoding again.
pub(super) fn walk(of: &'static Definition, object: &mut Map<String, Value>) -> Vec<Mismatch> {
    let mut walker = Walker { mismatches: Vec::new() };
    walker.fields(of, object, &FieldPath { parent: None, step: Step::Root, depth: 0 });
    walker.mismatches
}

struct Walker {
    mismatches: Vec<Mismatch>,
}

impl Walker {
    fn fields(&mut self, of: &'static Definition, object: &mut Map<String, Value>, place: &FieldPath<'_>) {
        object.retain(|name, value| {
            let Some(field) = of.field(name) else { return false };
            let something = self.field(field, value, &place.key(name));
            something || field.is_always_written
        });
        for field in of.always_written_fields() {
            if !object.contains_key(field.name) {
                object.insert(field.name.to_owned(), field.unset());
            }
        }
    }

    fn field(&mut self, field: &'static Field, value: &mut Value, place: &FieldPath<'_>) -> bool {
        let is_pointer = field.is_pointer && !value.is_null();
        if field.is_pointer && value.is_null() {
            return false;
        }
        self.value(&field.value, value, place) || is_pointer
    }

    /// Rewrites one value. Returns true if the value is not empty, so that an optional field stays.
    fn value(&mut self, kind: &'static ValueType, value: &mut Value, place: &FieldPath<'_>) -> bool {
        if place.depth > DEPTH_LIMIT {
            return self.reject(place, "within the nesting limit", "deeper");
        }
        if value.is_null() {
            *value = kind.unset();
            return false;
        }
        match kind {
            ValueType::Definition(of) => self.definition(of, value, place),
            ValueType::List(item) => self.list(&item.value, value, place),
            ValueType::Map(item) => self.map(&item.value, value, place),
            _ => self.scalar(kind, value, place),
        }
    }

    fn list(&mut self, item: &'static ValueType, value: &mut Value, place: &FieldPath<'_>) -> bool {
        let Value::Array(items) = value else { return self.mismatch(place, "a list", value) };
        for (index, entry) in items.iter_mut().enumerate() {
            self.value(item, entry, &place.index(index));
        }
        !items.is_empty()
    }

    fn map(&mut self, item: &'static ValueType, value: &mut Value, place: &FieldPath<'_>) -> bool {
        let Value::Object(entries) = value else { return self.mismatch(place, "a mapping", value) };
        for (key, entry) in entries.iter_mut() {
            self.value(item, entry, &place.key(key));
        }
        !entries.is_empty()
    }

    /// Rewrites a union of a JSON schema and another type.
    fn schema(&mut self, other: SchemaAlternative, value: &mut Value, place: &FieldPath<'_>) -> bool {
        static SCHEMA: LazyLock<Option<ValueType>> =
            LazyLock::new(|| builtin::find("apiextensions", "JSONSchemaProps").map(ValueType::Definition));
        let Some(schema) = &*SCHEMA else { return true };
        match (other, &*value) {
            (_, Value::Object(_)) => return self.value(schema, value, place),
            (SchemaAlternative::Bool, Value::Bool(_)) => {}
            (SchemaAlternative::Bool, _) => return self.mismatch(place, "a boolean or a JSON schema", value),
            (SchemaAlternative::Schemas, Value::Array(items)) if !items.is_empty() => {
                return self.list(schema, value, place);
            }
            (SchemaAlternative::Texts, Value::Array(items)) if !items.is_empty() => {
                return self.list(&ValueType::Text, value, place);
            }
            _ => *value = Value::Null,
        }
        true
    }

    fn definition(&mut self, of: &'static Definition, value: &mut Value, place: &FieldPath<'_>) -> bool {
        match of.form {
            Form::Fields => match value {
                Value::Object(object) => {
                    self.fields(of, object, place);
                    true
                }
                _ => self.mismatch(place, "a mapping", value),
            },
            Form::SchemaOr(other) => self.schema(other, value, place),
            Form::IntOrText if value.is_string() => true,
            Form::IntOrText => {
                let range = i64::from(i32::MIN)..=i64::from(i32::MAX);
                self.integer(value, place, range, "a 32-bit integer or a string");
                true
            }
            Form::Text(_) => {
                self.rewrite(value, place, "a time such as `2026-01-31T12:00:00Z`", time::canonical)
            }
            Form::Duration => match value {
                Value::String(text) if nanoseconds(text).is_some() => true,
                Value::String(text) => self.reject(place, DURATION, excerpt(text)),
                _ => self.mismatch(place, DURATION, value),
            },
            Form::Quantity => {
                if let Value::Number(number) = value {
                    *value = Value::String(quantity::number_text(number));
                }
                self.rewrite(value, place, "a quantity such as `500m` or `1Gi`", |text| {
                    quantity::canonical(text).map(|new| Some(new.into_owned()))
                })
            }
            Form::Object | Form::Any => true,
        }
    }

    fn scalar(&mut self, kind: &'static ValueType, value: &mut Value, place: &FieldPath<'_>) -> bool {
        match kind {
            ValueType::Text => match value {
                Value::String(text) => !text.is_empty(),
                _ => self.mismatch(place, "a string", value),
            },
            ValueType::Bool => match value {
                Value::Bool(yes) => *yes,
                _ => self.mismatch(place, "a boolean", value),
            },
            ValueType::Int32 => {
                self.integer(value, place, i64::from(i32::MIN)..=i64::from(i32::MAX), "a 32-bit integer")
            }
            ValueType::Int64 => self.integer(value, place, i64::MIN..=i64::MAX, "an integer"),
            ValueType::Double => match value {
                Value::Number(number) => number.as_f64() != Some(0.0),
                _ => self.mismatch(place, "a number", value),
            },
            ValueType::Bytes => self.rewrite(value, place, "base64", canonical_base64),
            _ => true,
        }
    }

    /// Rewrites an integer; a float without fraction is an integer, as in JSON.
    fn integer(
        &mut self,
        value: &mut Value,
        place: &FieldPath<'_>,
        range: std::ops::RangeInclusive<i64>,
        expected: &'static str,
    ) -> bool {
        let Value::Number(number) = &*value else { return self.mismatch(place, expected, value) };
        match whole_number(number) {
            Some(whole) if range.contains(&whole) => {
                if !number.is_i64() {
                    *value = whole.into();
                }
                whole != 0
            }
            _ => {
                let found = number.to_string();
                self.reject(place, expected, found)
            }
        }
    }

    /// Replaces a text with its decoded and encoded form; `None` stands for an empty value.
    fn rewrite<E>(
        &mut self,
        value: &mut Value,
        place: &FieldPath<'_>,
        expected: &'static str,
        read: impl Fn(&str) -> Result<Option<String>, E>,
    ) -> bool {
        let Value::String(text) = value else { return self.mismatch(place, expected, value) };
        match read(text) {
            Ok(Some(new)) => {
                let something = !new.is_empty();
                if *text != new {
                    *text = new;
                }
                something
            }
            Ok(None) => {
                *value = Value::Null;
                false
            }
            Err(_) => {
                let found = excerpt(text);
                self.reject(place, expected, found)
            }
        }
    }

    fn mismatch(&mut self, place: &FieldPath<'_>, expected: &'static str, found: &Value) -> bool {
        self.reject(place, expected, type_name(found))
    }

    fn reject(&mut self, place: &FieldPath<'_>, expected: &'static str, found: impl Into<String>) -> bool {
        self.mismatches.push(Mismatch { path: place.path(), expected, found: found.into() });
        true
    }
}

/// Quotes the start of a text on one line.
fn excerpt(text: &str) -> String {
    const LENGTH: usize = 40;
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LENGTH).flat_map(char::escape_debug).collect();
    let more = if characters.next().is_some() { "…" } else { "" };
    format!("`{start}{more}`")
}

fn whole_number(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let float = number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0)?;
    // Both bounds are powers of two, so they are exact as floats; the upper bound is exclusive.
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range by the condition")]
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float).then_some(float as i64)
}

fn canonical_base64(text: &str) -> Result<Option<String>, DecodeError> {
    // The command `base64` inserts line breaks.
    let bytes = if text.contains(['\r', '\n']) {
        BASE64.decode(text.replace(['\r', '\n'], ""))
    } else {
        BASE64.decode(text)
    };
    Ok(Some(BASE64.encode(bytes?)))
}

impl<'a> FieldPath<'a> {
    fn key(&'a self, key: &'a str) -> FieldPath<'a> {
        FieldPath { parent: Some(self), step: Step::Key(key), depth: self.depth + 1 }
    }

    fn index(&'a self, index: usize) -> FieldPath<'a> {
        FieldPath { parent: Some(self), step: Step::Index(index), depth: self.depth + 1 }
    }

    /// Returns the path in the usual notation: `spec.containers[0].image`, `metadata.labels["a.b/c"]`.
    fn path(&self) -> String {
        let mut steps = Vec::with_capacity(self.depth);
        let mut at = Some(self);
        while let Some(place) = at {
            steps.push(place.step);
            at = place.parent;
        }
        let mut text = String::new();
        for step in steps.into_iter().rev() {
            // Writing to a String cannot fail.
            let _ok = match step {
                Step::Root => Ok(()),
                Step::Index(index) => write!(text, "[{index}]"),
                Step::Key(key) if is_plain(key) => {
                    let dot = if text.is_empty() { "" } else { "." };
                    write!(text, "{dot}{key}")
                }
                Step::Key(key) => write!(text, "[{key:?}]"),
            };
        }
        text
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}
