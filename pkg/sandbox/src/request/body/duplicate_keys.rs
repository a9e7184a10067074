//! JSON parser that reports duplicate keys.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::DecodedBody;

/// The maximum number of reported duplicate keys. Source: sigs.k8s.io/json `saveStrictError`.
const MAX_REPORTED: usize = 100;

/// A value with the unique paths of its duplicate keys, in source order.
pub(super) struct TrackedValue {
    value: Value,
    duplicates: Vec<String>,
}

impl From<TrackedValue> for DecodedBody {
    fn from(tracked: TrackedValue) -> Self {
        let strict_errors = tracked.duplicates.iter().map(|path| format!("duplicate field \"{path}\""));
        Self { value: tracked.value, strict_errors: strict_errors.collect() }
    }
}

impl<'de> Deserialize<'de> for TrackedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut place = DuplicateRecorder::default();
        let value = Reader(&mut place).deserialize(deserializer)?;
        Ok(Self { value, duplicates: place.duplicates })
    }
}

#[derive(Default)]
struct DuplicateRecorder {
    /// Steps from the root; indexes include their brackets.
    path: Vec<String>,
    duplicates: Vec<String>,
}

impl DuplicateRecorder {
    fn record_duplicate(&mut self, key: &str) {
        if self.duplicates.len() >= MAX_REPORTED {
            return;
        }
        let mut text = String::new();
        for step in self.path.iter().map(String::as_str).chain([key]) {
            if !text.is_empty() && !step.starts_with('[') {
                text.push('.');
            }
            text.push_str(step);
        }
        if !self.duplicates.contains(&text) {
            self.duplicates.push(text);
        }
    }
}

/// Reads one value. The depth limit of serde_json applies.
struct Reader<'a>(&'a mut DuplicateRecorder);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            self.0.path.push(format!("[{}]", list.len()));
            let item = items.next_element_seed(Reader(&mut *self.0))?;
            self.0.path.pop();
            match item {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if object.contains_key(&key) {
                self.0.record_duplicate(&key);
            }
            self.0.path.push(key);
            let value = fields.next_value_seed(Reader(&mut *self.0))?;
            let key = self.0.path.pop().unwrap_or_default();
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
