//! Pruning of fields that a schema does not specify.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/pruning`.

use serde_json::Value;

use super::path::WalkPath;
use crate::schema::{AdditionalProperties, Schema};

const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes fields that the schema does not specify and returns their paths, sorted (`spec.foo`), for strict requests.
/// Keeps the metadata of the object and of embedded objects.
pub(crate) fn prune(object: &mut Value, schema: Schema<'_>) -> Vec<String> {
    prune_as(object, schema, true)
}

/// Prunes a part of an object and returns the removed paths, sorted.
pub(super) fn prune_part(value: &mut Value, schema: Schema<'_>) -> Vec<String> {
    prune_as(value, schema, schema.node().embedded_resource)
}

fn prune_as(value: &mut Value, schema: Schema<'_>, is_resource: bool) -> Vec<String> {
    let mut removed = Vec::new();
    prune_value(value, Some(schema), (is_resource, false), &mut WalkPath::default(), &mut removed);
    removed.sort_unstable();
    removed
}

/// `is_resource`: the value is a complete object that keeps `apiVersion`, `kind` and `metadata` regardless of the schema.
/// `is_kept`: the list around the value keeps unknown fields. Without a schema, values stay but objects lose their
/// fields, as on the real server.
fn prune_value(
    value: &mut Value,
    schema: Option<Schema<'_>>,
    (is_resource, is_kept): (bool, bool),
    path: &mut WalkPath,
    removed: &mut Vec<String>,
) {
    let is_kept = is_kept || schema.is_some_and(|schema| schema.node().preserve_unknown_fields);
    let is_embedded =
        |schema: Option<Schema<'_>>| schema.is_some_and(|schema| schema.node().embedded_resource);
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            if is_resource && RESOURCE_FIELDS.contains(&name.as_str()) {
                return true;
            }
            let field = schema.and_then(|schema| schema.field(name));
            let allows_any =
                schema.is_some_and(|schema| schema.node().additional == AdditionalProperties::Any);
            path.with_field(name, true, |path| {
                if field.is_some() || allows_any {
                    prune_value(value, field, (is_embedded(field), false), path, removed);
                } else if !is_kept {
                    removed.push(path.text().to_owned());
                    return false;
                }
                true
            })
        }),
        Value::Array(items) => {
            let schema = schema.and_then(Schema::items);
            for (index, item) in items.iter_mut().enumerate() {
                path.with_index(index, |path| {
                    prune_value(item, schema, (is_embedded(schema), is_kept), path, removed);
                });
            }
        }
        _ => {}
    }
}
