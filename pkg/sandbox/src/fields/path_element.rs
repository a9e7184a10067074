//! One step of a path: a field of an object or an item of a list.

use std::{cmp::Ordering, collections::BTreeMap, fmt};

use manifest::go_json;
use serde_json::{Number, Value};

use crate::go;

/// One step of a path.
#[derive(Clone, Debug)]
pub(super) enum PathElement {
    /// A field of an object.
    Field(Box<str>),
    /// A list item, identified by the values of its key fields, sorted by name.
    Key(Box<[(Box<str>, Value)]>),
    /// An item of a set.
    Value(Value),
    /// A list item by index. The server never writes indexes, but clients may.
    Index(i64),
}

impl PathElement {
    pub(super) fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// Parses a step in FieldsV1 syntax: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`. `None` for an unknown kind of
    /// step, as on the server.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, String> {
        let Some((sort, content)) = text.split_at_checked(2) else {
            return Err("key must be 2 characters long:".to_owned());
        };
        let unreadable = |error: serde_json::Error| error.to_string();
        match sort {
            "f:" => Ok(Some(Self::field(content))),
            "v:" => serde_json::from_str(content).map(Self::Value).map(Some).map_err(unreadable),
            "k:" => {
                let fields: serde_json::Map<String, Value> =
                    serde_json::from_str(content).map_err(unreadable)?;
                Ok(Some(Self::key(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())))
            }
            "i:" => content.parse().map(Self::Index).map(Some).map_err(|_| format!("bad index: {text}")),
            _ if sort.ends_with(':') => Ok(None),
            _ => Err(format!("missing colon: {text}")),
        }
    }

    /// Returns the step to the list item with these key values.
    pub(super) fn key(mut fields: Vec<(Box<str>, Value)>) -> Self {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Self::Key(fields.into())
    }

    /// Returns the step in FieldsV1 syntax.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => {
                let fields: BTreeMap<_, _> = fields.iter().map(|(name, value)| (name, value)).collect();
                format!("k:{}", go_json(&fields))
            }
            Self::Value(value) => format!("v:{}", go_json(value)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

/// Writes the syntax of messages: `.name`, `[name="x"]`, `[="x"]`, `[0]`.
impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                f.write_str("[")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{name}={}", format_value(value))?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={}]", format_value(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(content) => go::quoted(content),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => go::plain(value),
    }
}

/// The order of the steps in a written set: fields, keys, values, indexes.
impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                let by_field = a
                    .iter()
                    .zip(b)
                    .map(|(a, b)| a.0.cmp(&b.0).then_with(|| compare(&a.1, &b.1)))
                    .find(|ordering| ordering.is_ne());
                by_field.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Self::Value(a), Self::Value(b)) => compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

/// A total order of all values; `1` and `1.0` are equal.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    };
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        // Only scalars identify items.
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            go_json(a).cmp(&go_json(b))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

/// True if two values are equal; `1` equals `1.0`.
pub(super) fn equals(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equals(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equals(a, b)))
        }
        _ => a == b,
    }
}
