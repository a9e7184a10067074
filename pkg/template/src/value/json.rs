//! Values from and to JSON trees, which YAML and JSON are read into and printed from.

use base64::Engine as _;
use serde_json::{Map as Fields, Number, Value as Json};

use super::depth::Walk;
use super::{List, Map, TooDeep, Value};

impl Value {
    /// Creates a value as Helm's readers of YAML and JSON do: every number is a `float64`.
    pub fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::Nil,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => Self::Float(number.as_f64().unwrap_or_default()),
            Json::String(text) => Self::string(text.as_str()),
            Json::Array(items) => Self::list(items.iter().map(Self::from_json).collect()),
            Json::Object(fields) => {
                Self::map(fields.iter().map(|(key, value)| (key.as_str(), Self::from_json(value))))
            }
        }
    }

    /// Returns the value as Go's `encoding/json` writes it. `Ok(None)` for numbers that JSON does not have.
    pub fn to_json(&self) -> Result<Option<Json>, TooDeep> {
        to_json(self, &mut Walk::new())
    }
}

fn to_json(value: &Value, walk: &mut Walk) -> Result<Option<Json>, TooDeep> {
    walk.visit(|walk| {
        Ok(Some(match value {
            Value::Missing | Value::Nil => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) | Value::Int64(value) => Json::Number((*value).into()),
            Value::Uint8(value) => Json::Number((*value).into()),
            Value::Uint64(value) => Json::Number((*value).into()),
            Value::Float(value) => match number(*value) {
                Some(number) => Json::Number(number),
                None => return Ok(None),
            },
            Value::String(text) => Json::String(text.to_str().into_owned()),
            Value::List(list) => return list_to_json(list, walk),
            Value::Map(map) => return map_to_json(map, walk),
            Value::Object(object) => return to_json(&object.plain(), walk),
        }))
    })
}

/// Returns whole numbers as integers where possible: with the shortest digits and zeros, as Go prints them.
fn number(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_whole = value.fract() == 0.0 && !(value == 0.0 && value.is_sign_negative());
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
    if is_whole && value.abs() < EXACT {
        return Some((value as i64).into());
    }
    if is_whole && value.abs() < 1e21 {
        let digits = value.to_string();
        let number =
            digits.parse::<i64>().map(Number::from).or_else(|_| digits.parse::<u64>().map(Number::from));
        if let Ok(number) = number {
            return Some(number);
        }
    }
    Number::from_f64(value)
}

fn list_to_json(list: &List, walk: &mut Walk) -> Result<Option<Json>, TooDeep> {
    if list.is_nil() {
        return Ok(Some(Json::Null));
    }
    if let Some(bytes) = list.as_bytes() {
        return Ok(Some(Json::String(base64::engine::general_purpose::STANDARD.encode(&bytes))));
    }
    let mut items = Vec::with_capacity(list.len());
    for item in list.iter() {
        let Some(item) = to_json(item, walk)? else { return Ok(None) };
        items.push(item);
    }
    Ok(Some(Json::Array(items)))
}

fn map_to_json(map: &Map, walk: &mut Walk) -> Result<Option<Json>, TooDeep> {
    if map.is_nil() {
        return Ok(Some(Json::Null));
    }
    let mut fields = Fields::new();
    for (key, value) in map.entries().iter() {
        let Some(value) = to_json(value, walk)? else { return Ok(None) };
        fields.insert(key.to_str().into_owned(), value);
    }
    Ok(Some(Json::Object(fields)))
}
