//! Objects without written fields.

use serde_json::{Map, Value};

use crate::schema::{Schema, Type};

/// The maximum depth of an empty object, for schemas that contain themselves through required fields. No built-in kind
/// is that deep.
const MAX_DEPTH: usize = 16;

/// Returns an object of a built-in kind without written fields. It contains the fields that the Go type always writes,
/// even if empty. The creator of an object owns the descendants of these fields, but not the fields themselves.
///
/// Source: OpenAPI of kube-apiserver 1.36. Fields of struct type have the default `{}`; other fields that Go never
/// omits are required.
pub(crate) fn empty(schema: Schema<'_>) -> Value {
    empty_at(schema, MAX_DEPTH)
}

fn empty_at(schema: Schema<'_>, depth: usize) -> Value {
    let node = schema.node();
    let mut out = Map::new();
    if depth == 0 {
        return Value::Object(out);
    }
    for name in node.properties.keys() {
        let Some(field) = schema.field(name) else { continue };
        if node.structs.contains(name) {
            out.insert(name.to_string(), empty_at(field, depth - 1));
        } else if node.required.contains(name) {
            out.insert(name.to_string(), zero(field));
        }
    }
    Value::Object(out)
}

fn zero(schema: Schema<'_>) -> Value {
    match schema.node().kind {
        Type::String => "".into(),
        Type::Integer | Type::Number | Type::IntOrString => 0.into(),
        Type::Boolean => false.into(),
        Type::Any | Type::Object | Type::Array => Value::Null,
    }
}
