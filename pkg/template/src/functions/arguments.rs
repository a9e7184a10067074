//! Arguments by position, once the engine has checked their types.

use std::borrow::Cow;

use crate::value::{List, Map, Str, Value};

/// Reads arguments. The engine has checked number and types, so a wrong type gives an empty value.
pub trait Arguments {
    /// Returns an argument; nil if there is none.
    fn value(&self, index: usize) -> &Value;

    /// Returns a `string`.
    fn text(&self, index: usize) -> &[u8] {
        match self.value(index) {
            Value::String(text) => text,
            _ => &[],
        }
    }

    /// Returns a `string` as UTF-8.
    fn utf8(&self, index: usize) -> Cow<'_, str> {
        match self.value(index) {
            Value::String(text) => text.to_str(),
            _ => Cow::Borrowed(""),
        }
    }

    /// Returns a shared `string`.
    fn shared(&self, index: usize) -> Str {
        match self.value(index) {
            Value::String(text) => text.clone(),
            _ => Str::from(""),
        }
    }

    /// Returns an `int`.
    fn int(&self, index: usize) -> i64 {
        match self.value(index) {
            Value::Int(value) | Value::Int64(value) => *value,
            _ => 0,
        }
    }

    /// Returns a `bool`.
    fn flag(&self, index: usize) -> bool {
        matches!(self.value(index), Value::Bool(true))
    }

    /// Returns a map.
    fn map(&self, index: usize) -> Map {
        match self.value(index) {
            Value::Map(map) => map.clone(),
            _ => Map::nil(),
        }
    }

    /// Returns a list.
    fn list(&self, index: usize) -> List {
        match self.value(index) {
            Value::List(list) => list.clone(),
            _ => List::nil(crate::value::Elem::Any),
        }
    }
}

impl Arguments for [Value] {
    fn value(&self, index: usize) -> &Value {
        self.get(index).unwrap_or(&Value::Nil)
    }
}
