//! Detection of bodies that do not fit the Go structs of the real server: wrong types and unknown fields.

use serde_json::Value;

use super::normalization::{is_quantity, is_struct};
use crate::{
    crd::WalkPath,
    go,
    schema::{AdditionalProperties, Node, Schema, Type},
};

/// Returns the first type error of an object in the words of Go's JSON decoder: `None` if the object can be decoded.
///
/// Differs: named text types (`v1.Protocol`) are called `string`, and the path contains only some embedded structs.
pub(super) fn type_error(schema: Schema<'_>, value: &Value) -> Option<String> {
    let mut place = DecodePosition { path: Vec::new(), struct_name: type_name(schema.node()) };
    check(schema, value, &mut place)
}

struct DecodePosition<'a> {
    /// Field names without indices, because Go omits indices.
    path: Vec<&'a str>,
    struct_name: String,
}

fn check<'a>(schema: Schema<'a>, value: &'a Value, position: &mut DecodePosition<'a>) -> Option<String> {
    let node = schema.node();
    if value.is_null() || node.preserve_unknown_fields {
        return None;
    }
    if is_quantity(node) {
        return quantity(value);
    }
    match (node.kind, value) {
        (Type::Object, Value::Object(fields)) if is_struct(node) => {
            let outer = std::mem::replace(&mut position.struct_name, type_name(node));
            for (name, value) in fields {
                let Some((known, _)) = node.properties.get_key_value(name.as_str()) else { continue };
                let Some(inner) = schema.field(known) else { continue };
                let depth = position.path.len();
                position.path.extend(embedded_struct(&position.struct_name, known));
                position.path.push(known);
                if let Some(error) = check(inner, value, position) {
                    return Some(error);
                }
                position.path.truncate(depth);
            }
            position.struct_name = outer;
            None
        }
        (Type::Object, Value::Object(fields)) => match node.additional {
            AdditionalProperties::Of(_) => {
                fields.iter().find_map(|(key, value)| check(schema.field(key)?, value, position))
            }
            AdditionalProperties::None | AdditionalProperties::Any => None,
        },
        (Type::Array, Value::Array(items)) => {
            let inner = schema.items()?;
            items.iter().find_map(|item| check(inner, item, position))
        }
        (Type::String, Value::String(text)) => string(node, text),
        (Type::Integer, Value::Number(number)) => {
            let fits = match (node.format.as_deref(), number.as_i64()) {
                (Some("int32"), Some(number)) => i32::try_from(number).is_ok(),
                (_, number) => number.is_some(),
            };
            (!fits).then(|| mismatch(&format!("number {number}"), &integer_type(node), position))
        }
        (Type::IntOrString, Value::Number(number)) => {
            let fits = number.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
            (!fits).then(|| mismatch(&format!("number {number}"), "int32", position))
        }
        (Type::Any, _)
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_))
        | (Type::IntOrString, Value::String(_)) => None,
        _ => Some(mismatch(go::json_kind(value), &go_type(schema), position)),
    }
}

/// The embedded Go struct that contains a field, for the structs that clients commonly write.
fn embedded_struct(struct_name: &str, field: &str) -> Option<&'static str> {
    match (struct_name, field) {
        ("v1.Volume", field) if field != "name" => Some("VolumeSource"),
        ("v1.Probe", "exec" | "grpc" | "httpGet" | "tcpSocket") => Some("ProbeHandler"),
        _ => None,
    }
}

fn quantity(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::from("x"),
    };
    if manifest::quantity::canonical(&text).is_ok() {
        return None;
    }
    Some(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            .to_owned(),
    )
}

/// Checks texts with a special format: times and bytes.
fn string(node: &Node, text: &str) -> Option<String> {
    match node.format.as_deref() {
        Some("byte") => {
            use base64::{Engine, engine::general_purpose::STANDARD};
            let clean: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            let bad = match STANDARD.decode(&clean) {
                Ok(_) => return None,
                Err(
                    base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _),
                ) => at,
                Err(_) => clean.len() / 4 * 4,
            };
            Some(format!("illegal base64 data at input byte {bad}"))
        }
        Some("date-time") if text.parse::<jiff::Timestamp>().is_err() => {
            let micro = node.definition.as_deref().is_some_and(|name| name.ends_with(".MicroTime"));
            let layout = if micro { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
            Some(format!("parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""))
        }
        _ => None,
    }
}

fn mismatch(found: &str, expected: &str, position: &DecodePosition<'_>) -> String {
    let path = position.path.join(".");
    let holder = position.struct_name.rsplit('.').next().unwrap_or_default();
    format!("json: cannot unmarshal {found} into Go struct field {holder}.{path} of type {expected}")
}

fn integer_type(node: &Node) -> String {
    node.format.as_deref().unwrap_or("int64").to_owned()
}

/// Returns `v1.Pod` for `io.k8s.api.core.v1.Pod`.
fn type_name(node: &Node) -> String {
    let name = node.definition.as_deref().unwrap_or_default();
    name.rmatch_indices('.').nth(1).map_or(name, |(dot, _)| &name[dot + 1..]).to_owned()
}

fn go_type(schema: Schema<'_>) -> String {
    let node = schema.node();
    match node.kind {
        Type::Object if is_struct(node) => type_name(node),
        Type::Object => match schema.field("") {
            Some(values) => format!("map[string]{}", go_type(values)),
            None => "map[string]interface {}".to_owned(),
        },
        Type::Array => format!("[]{}", schema.items().map(go_type).unwrap_or_default()),
        Type::String if node.format.as_deref() == Some("byte") => "[]uint8".to_owned(),
        Type::String if is_quantity(node) => "resource.Quantity".to_owned(),
        Type::String | Type::Any => "string".to_owned(),
        Type::Integer => integer_type(node),
        Type::IntOrString => "int32".to_owned(),
        Type::Number => "float64".to_owned(),
        Type::Boolean => "bool".to_owned(),
    }
}

/// Returns the fields that no struct has, as paths such as `spec.containers[0].foo`, in document order.
pub(super) fn unknown_fields(schema: Schema<'_>, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, value, &mut WalkPath::default(), &mut found);
    found
}

fn collect(schema: Schema<'_>, value: &Value, path: &mut WalkPath, found: &mut Vec<String>) {
    let node = schema.node();
    let is_strict = is_struct(node) && !node.preserve_unknown_fields;
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.with_field(name, true, |path| match schema.field(name) {
                    Some(inner) => collect(inner, value, path, found),
                    None if is_strict => found.push(path.text().to_owned()),
                    None => {}
                });
            }
        }
        Value::Array(items) => {
            let Some(inner) = schema.items() else { return };
            for (index, item) in items.iter().enumerate() {
                path.with_index(index, |path| collect(inner, item, path, found));
            }
        }
        _ => {}
    }
}
