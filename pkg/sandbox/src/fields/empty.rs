//! Objects nobody wrote to.

use serde_json::{Map, Value};

use crate::schema::{Schema, Type};

/// A schema that contains itself through required fields has no empty object; no built-in kind is that deep.
const MAX_DEPTH: usize = 16;

/// An object of a built-in kind that nobody wrote to: the fields that its Go type writes even when they are empty.
/// Who creates an object does not own these fields as such, but what is below them.
///
/// Source: OpenAPI of kube-apiserver 1.36: fields of struct type have the default `{}`, other fields that are never left
/// out are required.
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
