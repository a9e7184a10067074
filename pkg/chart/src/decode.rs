//! Fields of Go structs, as `sigs.k8s.io/yaml` decodes them: names in any case, scalars as text.
//!
//! Source: sigs.k8s.io/yaml 1.6.0, Go 1.26 encoding/json.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::value_tree::json_type;

/// A field with a value of another type than the struct has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into {target} of type {expected}"
)]
pub struct TypeError {
    /// The type of the value, as JSON names it.
    pub found: &'static str,
    /// The struct and the path of the field: `Go struct field Metadata.version`.
    pub target: String,
    /// The Go type of the field.
    pub expected: &'static str,
}

/// The fields of one struct.
pub(crate) struct Fields<'v> {
    /// The struct and the path of names from the outermost struct.
    path: String,
    values: BTreeMap<String, &'v Value>,
}

impl<'v> Fields<'v> {
    /// Returns the fields of an object; null has none. `path` is the name of the outermost struct and the path to the
    /// object in it, `go_type` the type of the object.
    pub(crate) fn of(value: &'v Value, path: &str, go_type: &'static str) -> Result<Self, TypeError> {
        let mut fields: Vec<(&String, &Value)> = match value {
            Value::Null => Vec::new(),
            Value::Object(fields) => fields.iter().collect(),
            other => return Err(type_error(other, path, go_type)),
        };
        // Of names that differ only in case, the last one in the order of JSON counts.
        fields.sort_by_key(|(name, _)| *name);
        let values = fields.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
        Ok(Self { path: path.to_owned(), values })
    }

    fn target(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// Returns a field that is set.
    pub(crate) fn get(&self, name: &str) -> Option<&'v Value> {
        self.values.get(&name.to_lowercase()).copied().filter(|value| !value.is_null())
    }

    /// Reads a text.
    pub(crate) fn text(&self, name: &str, into: &mut String) -> Result<(), TypeError> {
        if let Some(value) = self.get(name) {
            *into = text_of(value).ok_or_else(|| type_error(value, &self.target(name), "string"))?;
        }
        Ok(())
    }

    /// Reads a boolean.
    pub(crate) fn flag(&self, name: &str, into: &mut bool) -> Result<(), TypeError> {
        match self.get(name) {
            None => {}
            Some(Value::Bool(value)) => *into = *value,
            Some(value) => return Err(type_error(value, &self.target(name), "bool")),
        }
        Ok(())
    }

    /// Reads a list of texts.
    pub(crate) fn texts(&self, name: &str, into: &mut Vec<String>) -> Result<(), TypeError> {
        let Some(items) = self.list(name, "[]string")? else { return Ok(()) };
        let text = |item: &Value| match item {
            Value::Null => Ok(String::new()),
            item => text_of(item).ok_or_else(|| type_error(item, &self.target(name), "string")),
        };
        *into = items.iter().map(text).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Reads a table of texts.
    pub(crate) fn table(&self, name: &str, into: &mut BTreeMap<String, String>) -> Result<(), TypeError> {
        let fields = match self.get(name) {
            None => return Ok(()),
            Some(Value::Object(fields)) => fields,
            Some(value) => return Err(type_error(value, &self.target(name), "map[string]string")),
        };
        for (key, value) in fields {
            let text = match value {
                Value::Null => String::new(),
                value => text_of(value).ok_or_else(|| type_error(value, &self.target(name), "string"))?,
            };
            into.insert(key.clone(), text);
        }
        Ok(())
    }

    /// Returns a list.
    pub(crate) fn list(&self, name: &str, go_type: &'static str) -> Result<Option<&'v [Value]>, TypeError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(value) => Err(type_error(value, &self.target(name), go_type)),
        }
    }
}

fn type_error(value: &Value, path: &str, expected: &'static str) -> TypeError {
    let target = if path.contains('.') { format!("Go struct field {path}") } else { "Go value".to_owned() };
    TypeError { found: json_type(value), target, expected }
}

/// Returns a scalar as text: numbers and booleans count as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) if number.is_f64() => Some(float_text(number.as_f64().unwrap_or_default())),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a number with the shortest digits of 32 bits, with an exponent as in `1e+06`.
fn float_text(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "as Go prints it")]
    let number = number as f32;
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    number.to_string()
}
