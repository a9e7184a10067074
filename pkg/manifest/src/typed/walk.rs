use std::fmt::Write as _;

use base64::{DecodeError, Engine as _};
use serde_json::{Map, Number, Value};

use super::{quantity, time};
use crate::builtin::{Field, Kind, NoSchema, Type};
use crate::duration::nanoseconds;
use crate::go_base64::BASE64;
use crate::object::type_name;

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

const DURATION: &str = "a span of time such as `10m`";

/// The position of a value, linked to its parent on the stack; only errors need the path.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
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
pub(super) fn walk(of: &'static Type, object: &mut Map<String, Value>) -> Vec<Mismatch> {
    let mut walker = Walker { mismatches: Vec::new() };
    walker.fields(of, object, &Place { parent: None, step: Step::Root, depth: 0 });
    walker.mismatches
}

struct Walker {
    mismatches: Vec<Mismatch>,
}

impl Walker {
    fn fields(&mut self, of: &'static Type, object: &mut Map<String, Value>, place: &Place<'_>) {
        object.retain(|name, value| {
            let Some(field) = of.field(name) else { return false };
            let something = self.field(field, value, &place.key(name));
            something || field.is_always
        });
        for field in of.always() {
            if !object.contains_key(field.name) {
                object.insert(field.name.to_owned(), zero_of(field));
            }
        }
    }

    fn field(&mut self, field: &'static Field, value: &mut Value, place: &Place<'_>) -> bool {
        let is_pointer = field.is_pointer && !value.is_null();
        if field.is_pointer && value.is_null() {
            return false;
        }
        self.value(&field.kind, value, place) || is_pointer
    }

    /// Rewrites one value. Returns true if the value is not empty, so that an optional field stays.
    fn value(&mut self, kind: &'static Kind, value: &mut Value, place: &Place<'_>) -> bool {
        if place.depth > DEPTH_LIMIT {
            return self.refuse(place, "nested less deeply", "a value at the limit");
        }
        if value.is_null() {
            *value = zero(kind);
            return false;
        }
        match kind {
            Kind::Struct(of) => match value {
                Value::Object(object) => {
                    self.fields(of, object, place);
                    true
                }
                _ => self.mismatch(place, "a mapping", value),
            },
            Kind::List(item) => self.list(item, value, place),
            Kind::Map(item) => self.map(item, value, place),
            Kind::SchemaOr(other, schema) => self.schema(*other, schema, value, place),
            _ => self.scalar(kind, value, place),
        }
    }

    fn list(&mut self, item: &'static Kind, value: &mut Value, place: &Place<'_>) -> bool {
        let Value::Array(items) = value else { return self.mismatch(place, "a list", value) };
        for (index, entry) in items.iter_mut().enumerate() {
            self.value(item, entry, &place.index(index));
        }
        !items.is_empty()
    }

    fn map(&mut self, item: &'static Kind, value: &mut Value, place: &Place<'_>) -> bool {
        let Value::Object(entries) = value else { return self.mismatch(place, "a mapping", value) };
        for (key, entry) in entries.iter_mut() {
            self.value(item, entry, &place.key(key));
        }
        !entries.is_empty()
    }

    /// Rewrites a union of a JSON schema and another type.
    fn schema(
        &mut self,
        other: NoSchema,
        schema: &'static Kind,
        value: &mut Value,
        place: &Place<'_>,
    ) -> bool {
        match (other, &*value) {
            (_, Value::Object(_)) => return self.value(schema, value, place),
            (NoSchema::Bool, Value::Bool(_)) => {}
            (NoSchema::Bool, _) => return self.mismatch(place, "a boolean or a JSON schema", value),
            (NoSchema::Schemas, Value::Array(items)) if !items.is_empty() => {
                return self.list(schema, value, place);
            }
            (NoSchema::Texts, Value::Array(items)) if !items.is_empty() => {
                return self.list(&Kind::Text, value, place);
            }
            _ => *value = Value::Null,
        }
        true
    }

    fn scalar(&mut self, kind: &'static Kind, value: &mut Value, place: &Place<'_>) -> bool {
        match kind {
            Kind::Text => match value {
                Value::String(text) => !text.is_empty(),
                _ => self.mismatch(place, "a string", value),
            },
            Kind::Bool => match value {
                Value::Bool(yes) => *yes,
                _ => self.mismatch(place, "a boolean", value),
            },
            Kind::Int32 => {
                self.integer(value, place, i64::from(i32::MIN)..=i64::from(i32::MAX), "an integer of 32 bits")
            }
            Kind::Int64 => self.integer(value, place, i64::MIN..=i64::MAX, "an integer"),
            Kind::Float => match value {
                Value::Number(number) => number.as_f64() != Some(0.0),
                _ => self.mismatch(place, "a number", value),
            },
            Kind::IntOrText if value.is_string() => true,
            Kind::IntOrText => {
                let range = i64::from(i32::MIN)..=i64::from(i32::MAX);
                self.integer(value, place, range, "an integer of 32 bits or a string");
                true
            }
            Kind::Bytes => self.rewrite(value, place, "base64", base64_again),
            Kind::Time => {
                self.rewrite(value, place, "a time such as `2026-01-31T12:00:00Z`", time::canonical)
            }
            Kind::Duration => match value {
                Value::String(text) if nanoseconds(text).is_some() => true,
                Value::String(text) => self.refuse(place, DURATION, excerpt(text)),
                _ => self.mismatch(place, DURATION, value),
            },
            Kind::Quantity => {
                if let Value::Number(number) = value {
                    *value = Value::String(quantity::number_text(number));
                }
                self.rewrite(value, place, "a quantity such as `500m` or `1Gi`", |text| {
                    quantity::canonical(text).map(|new| Some(new.into_owned()))
                })
            }
            _ => true,
        }
    }

    /// Rewrites an integer; a float without fraction is an integer, as in JSON.
    fn integer(
        &mut self,
        value: &mut Value,
        place: &Place<'_>,
        range: std::ops::RangeInclusive<i64>,
        expected: &'static str,
    ) -> bool {
        let Value::Number(number) = &*value else { return self.mismatch(place, expected, value) };
        match whole(number) {
            Some(whole) if range.contains(&whole) => {
                if !number.is_i64() {
                    *value = whole.into();
                }
                whole != 0
            }
            _ => {
                let found = number.to_string();
                self.refuse(place, expected, found)
            }
        }
    }

    /// Replaces a text with its decoded and encoded form; `None` stands for an empty value.
    fn rewrite<E>(
        &mut self,
        value: &mut Value,
        place: &Place<'_>,
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
                self.refuse(place, expected, found)
            }
        }
    }

    fn mismatch(&mut self, place: &Place<'_>, expected: &'static str, found: &Value) -> bool {
        self.refuse(place, expected, type_name(found))
    }

    fn refuse(&mut self, place: &Place<'_>, expected: &'static str, found: impl Into<String>) -> bool {
        self.mismatches.push(Mismatch { path: place.path(), expected, found: found.into() });
        true
    }
}

/// Returns the zero value of a field.
fn zero(kind: &'static Kind) -> Value {
    match kind {
        Kind::Text => Value::String(String::new()),
        Kind::Bool => Value::Bool(false),
        Kind::Int32 | Kind::Int64 | Kind::Float | Kind::IntOrText => Value::from(0),
        Kind::Quantity => Value::from("0"),
        Kind::Duration => Value::from("0s"),
        Kind::Struct(of) => of.always().map(|field| (field.name.to_owned(), zero_of(field))).collect(),
        Kind::Bytes | Kind::Time | Kind::Raw | Kind::SchemaOr(..) | Kind::List(_) | Kind::Map(_) => {
            Value::Null
        }
    }
}

fn zero_of(field: &'static Field) -> Value {
    if field.is_pointer { Value::Null } else { zero(&field.kind) }
}

/// Quotes the start of a text on one line.
fn excerpt(text: &str) -> String {
    const LENGTH: usize = 40;
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LENGTH).flat_map(char::escape_debug).collect();
    let more = if characters.next().is_some() { "…" } else { "" };
    format!("`{start}{more}`")
}

fn whole(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let float = number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0)?;
    // Both bounds are powers of two, so they are exact as floats; the upper bound is exclusive.
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range by the condition")]
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float).then_some(float as i64)
}

fn base64_again(text: &str) -> Result<Option<String>, DecodeError> {
    // The command `base64` inserts line breaks.
    let bytes = if text.contains(['\r', '\n']) {
        BASE64.decode(text.replace(['\r', '\n'], ""))
    } else {
        BASE64.decode(text)
    };
    Ok(Some(BASE64.encode(bytes?)))
}

impl<'a> Place<'a> {
    fn key(&'a self, key: &'a str) -> Place<'a> {
        Place { parent: Some(self), step: Step::Key(key), depth: self.depth + 1 }
    }

    fn index(&'a self, index: usize) -> Place<'a> {
        Place { parent: Some(self), step: Step::Index(index), depth: self.depth + 1 }
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
