//! Values as trees that threads can share, unlike the values of a running template.

use std::collections::BTreeMap;

use manifest::YamlLimits;
use manifest::yaml::{self, YamlError};
use template::{Elem, List, Map, Str, Value};

/// A value of a chart or of a user.
///
/// Numbers of YAML and JSON are `Float`, as Helm reads them; `Int` is a number of `--set`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueTree {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Str),
    List(Vec<Self>),
    Table(Table),
}

/// A table of values by key.
pub(crate) type Table = BTreeMap<Str, ValueTree>;

/// A text that is not a YAML mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The text is not YAML.
    #[error("error converting YAML to JSON: yaml: {}", go_text(.0))]
    Yaml(YamlError),
    /// The text is a list or a scalar.
    #[error(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {0} into Go value of type map[string]interface {{}}"
    )]
    NotATable(&'static str),
}

/// The text of an error of YAML as Go's reader words it.
pub(crate) fn go_text(error: &YamlError) -> String {
    format!("line {}: {}", error.line, error.kind)
}

/// Parses the first document of a text into a table; null is an empty table.
pub(crate) fn read_table(text: &[u8]) -> Result<Table, TableError> {
    let json = read_json(text).map_err(TableError::Yaml)?;
    match ValueTree::from_json(&json) {
        ValueTree::Table(table) => Ok(table),
        ValueTree::Null => Ok(Table::new()),
        _ => Err(TableError::NotATable(json_type(&json))),
    }
}

/// Parses the first document of a text.
pub(crate) fn read_json(text: &[u8]) -> Result<serde_json::Value, YamlError> {
    read_json_text(&yaml::decode(text)?)
}

/// Parses the first document of a text that is known to be UTF-8.
pub(crate) fn read_json_text(text: &str) -> Result<serde_json::Value, YamlError> {
    yaml::read_value(text, &YamlLimits::default())
}

/// The name of a type in the errors of Go's `encoding/json`.
pub(crate) fn json_type(json: &serde_json::Value) -> &'static str {
    match json {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "bool",
        serde_json::Value::Number(_) => "number",
        serde_json::Value::String(_) => "string",
        serde_json::Value::Array(_) => "array",
        serde_json::Value::Object(_) => "object",
    }
}

impl ValueTree {
    pub(crate) fn text(text: impl Into<Str>) -> Self {
        Self::Text(text.into())
    }

    /// Converts a JSON tree; every number is a float.
    pub(crate) fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Float(number.as_f64().unwrap_or_default()),
            serde_json::Value::String(text) => Self::text(text.as_str()),
            serde_json::Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            serde_json::Value::Object(fields) => {
                let entry = |(key, value): (&String, _)| (Str::from(key.as_str()), Self::from_json(value));
                Self::Table(fields.iter().map(entry).collect())
            }
        }
    }

    /// Creates a value for templates, which may change it.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Nil,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int64(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(text) => Value::String(text.clone()),
            Self::List(items) => {
                Value::List(List::new(Elem::Any, items.iter().map(Self::to_value).collect()))
            }
            Self::Table(table) => Value::Map(to_map(table)),
        }
    }
}

/// Creates a map for templates.
pub(crate) fn to_map(table: &Table) -> Map {
    Map::new(Elem::Any, table.iter().map(|(key, value)| (key.clone(), value.to_value())).collect())
}

impl ValueTree {
    /// The name of the type for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}
