//! Normalization of objects as on the real server: removes unknown fields and zero values, and sets defaults.
//!
//! The real server decodes into Go structs, sets defaults and encodes the structs. Two walks over the JSON tree have
//! the same effect: [`reduce`] acts like decoding; [`complete`] sets defaults and acts like encoding.

use manifest::quantity;
use serde_json::{Map, Value};

use super::{
    defaults::set_computed_defaults,
    type_rules::{of_type, short_name},
};
use crate::schema::{AdditionalProperties, Node, Schema, Type};

/// True for objects with described fields, which are structs on the real server.
pub(super) fn is_struct(node: &Node) -> bool {
    node.kind == Type::Object && !node.properties.is_empty()
}

/// True for quantities such as `100m`.
pub(super) fn is_quantity(node: &Node) -> bool {
    node.definition.as_deref().is_some_and(|name| name.ends_with(".Quantity"))
        || node.format.as_deref() == Some("quantity")
}

/// Removes unknown fields, nulls and zero values, as decoding does, and adds missing structs that are not pointers.
pub(super) fn remove_unset(value: &mut Value, schema: Schema<'_>) {
    let node = schema.node();
    match value {
        Value::Object(object) if is_struct(node) => reduce_struct(object, schema),
        Value::Object(object) => {
            let AdditionalProperties::Of(_) = node.additional else { return };
            for (key, value) in object.iter_mut() {
                let Some(inner) = schema.field(key) else { continue };
                if value.is_null() {
                    *value = zero(inner.node());
                }
                remove_unset(value, inner);
            }
        }
        Value::Array(items) => {
            let Some(inner) = schema.items() else { return };
            for item in items {
                if item.is_null() {
                    *item = zero(inner.node());
                }
                remove_unset(item, inner);
            }
        }
        Value::String(text) if is_quantity(node) => {
            if let Ok(canonical) = quantity::canonical(text) {
                *text = canonical.into_owned();
            }
        }
        Value::Number(number) if is_quantity(node) => {
            if let Ok(canonical) = quantity::canonical(&number.to_string()) {
                *value = canonical.into();
            }
        }
        _ => {}
    }
}

fn reduce_struct(object: &mut Map<String, Value>, schema: Schema<'_>) {
    let node = schema.node();
    let rules = of_type(node.definition.as_deref().unwrap_or_default());
    object.retain(|name, value| {
        let Some(&_) = node.properties.get(name.as_str()) else { return false };
        let Some(inner) = schema.field(name) else { return false };
        if value.is_null() {
            return false;
        }
        remove_unset(value, inner);
        rules.keeps_zero(name) || !is_zero(value, inner.node())
    });
    for field in rules.always_written() {
        if !object.contains_key(field.name) && field.unset().is_object() {
            let mut value = Value::Object(Map::new());
            if let Some(inner) = schema.field(field.name) {
                remove_unset(&mut value, inner);
            }
            object.insert(field.name.to_owned(), value);
        }
    }
}

/// Sets defaults, outer objects first, then adds empty fields that are always written.
pub(super) fn fill_defaults(value: &mut Value, schema: Schema<'_>) {
    let node = schema.node();
    match value {
        Value::Object(object) if is_struct(node) => {
            let definition = node.definition.as_deref().unwrap_or_default();
            set_computed_defaults(short_name(definition), object);
            let rules = of_type(definition);
            for (name, default) in &rules.defaults {
                if object.get(*name).is_none_or(|value| !rules.keeps_zero(name) && is_empty(value)) {
                    object.insert((*name).to_owned(), default.clone());
                }
            }
            for (name, value) in object.iter_mut() {
                if let Some(inner) = schema.field(name) {
                    fill_defaults(value, inner);
                }
            }
            for field in rules.always_written() {
                object.entry(field.name).or_insert_with(|| field.unset());
            }
        }
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                if let Some(inner) = schema.field(key) {
                    fill_defaults(value, inner);
                }
            }
        }
        Value::Array(items) => {
            let Some(inner) = schema.items() else { return };
            for item in items {
                fill_defaults(item, inner);
            }
        }
        _ => {}
    }
}

/// The value of a null in a map or a list.
fn zero(node: &Node) -> Value {
    match node.kind {
        Type::String if is_quantity(node) => Value::from("0"),
        Type::String => Value::from(""),
        Type::Integer | Type::Number | Type::IntOrString => Value::from(0),
        Type::Boolean => Value::from(false),
        Type::Object => Value::Object(Map::new()),
        Type::Any | Type::Array => Value::Null,
    }
}

/// True if a value is omitted from the output. Structs stay: a struct that is not a pointer is written even if empty.
fn is_zero(value: &Value, node: &Node) -> bool {
    match value {
        Value::Object(object) => object.is_empty() && matches!(node.additional, AdditionalProperties::Of(_)),
        _ => is_empty(value),
    }
}

/// True for Go zero values and for empty lists and objects.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
