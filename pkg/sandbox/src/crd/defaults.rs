//! Defaulting of custom objects.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/defaulting`. Nulls that are neither nullable nor have a
//! default are removed first. Missing fields and the remaining nulls then get their defaults.

use serde_json::Value;

use crate::schema::Schema;

/// Sets the defaults of the schema. Nulls that are not nullable are removed or replaced by their default.
pub(crate) fn fill_defaults(object: &mut Value, schema: Schema<'_>) {
    remove_nulls(object, schema);
    fill(object, schema);
}

fn remove_nulls(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let Some(schema) = schema.field(name) else { return true };
            if value.is_null() {
                return schema.node().nullable || schema.node().default.is_some();
            }
            remove_nulls(value, schema);
            true
        }),
        Value::Array(items) => {
            if let Some(schema) = schema.items() {
                for item in items {
                    remove_nulls(item, schema);
                }
            }
        }
        _ => {}
    }
}

fn fill(value: &mut Value, schema: Schema<'_>) {
    let node = schema.node();
    if let Some(default) = node.default.as_ref().filter(|_| value.is_null() && !node.nullable) {
        *value = default.clone();
    }
    match value {
        Value::Object(fields) => {
            for (name, id) in &node.properties {
                if let Some(default) = &schema.at(*id).node().default
                    && !fields.contains_key(&**name)
                {
                    fields.insert(name.to_string(), default.clone());
                }
            }
            for (name, value) in fields {
                if let Some(schema) = schema.field(name) {
                    fill(value, schema);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.items() {
                for item in items {
                    fill(item, schema);
                }
            }
        }
        _ => {}
    }
}
