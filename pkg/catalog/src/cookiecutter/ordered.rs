//! JSON objects that keep the order of their fields.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A JSON object in the order of its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OrderedMap(Vec<(String, Value)>);

impl OrderedMap {
    /// Returns the value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the value of a field to change it.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Sets a field. A new field is the last one.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.get_mut(name) {
            Some(known) => *known = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// The fields in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the fields without their order.
    pub(crate) fn to_value(&self) -> Value {
        Value::Object(self.0.iter().cloned().collect::<Map<_, _>>())
    }
}

impl<'de> Deserialize<'de> for OrderedMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = OrderedMap;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<OrderedMap, A::Error> {
                let mut fields = OrderedMap::default();
                while let Some((name, value)) = access.next_entry::<String, Value>()? {
                    fields.set(&name, value);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for OrderedMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
