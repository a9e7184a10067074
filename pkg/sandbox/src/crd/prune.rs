//! Pruning of fields that a schema does not specify.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/pruning`.

use serde_json::Value;

use crate::schema::{AdditionalProperties, Schema};

const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The state of a walk: the current path and the removed fields.
#[derive(Default)]
struct Pruner {
    path: String,
    removed: Vec<String>,
}

/// Removes fields that the schema does not specify and returns their paths, sorted (`spec.foo`), for strict requests.
/// Keeps the metadata of the object and of embedded objects.
pub(crate) fn prune(object: &mut Value, schema: Schema<'_>) -> Vec<String> {
    let mut pruner = Pruner::default();
    pruner.prune(object, Some(schema), true);
    pruner.removed.sort_unstable();
    pruner.removed
}

/// Prunes a part of an object and returns the removed paths, sorted.
pub(super) fn prune_part(value: &mut Value, schema: Schema<'_>) -> Vec<String> {
    let mut pruner = Pruner::default();
    pruner.prune_below(value, Some(schema));
    pruner.removed.sort_unstable();
    pruner.removed
}

impl Pruner {
    /// `resource`: the value is a complete object that keeps `apiVersion`, `kind` and `metadata` regardless of the
    /// schema.
    fn prune(&mut self, value: &mut Value, schema: Option<Schema<'_>>, resource: bool) {
        if let Some(schema) = schema.filter(|schema| schema.node().preserve_unknown_fields) {
            return self.preserve(value, schema, resource);
        }
        match value {
            Value::Object(fields) => fields.retain(|name, value| {
                if resource && RESOURCE_FIELDS.contains(&name.as_str()) {
                    return true;
                }
                match schema.map_or(FieldSchema::Unknown, |schema| field_schema(schema, name)) {
                    FieldSchema::Known(schema) => {
                        self.with_field(name, |pruner| pruner.prune_below(value, schema));
                    }
                    FieldSchema::Unknown => {
                        self.with_field(name, |pruner| pruner.removed.push(pruner.path.clone()));
                        return false;
                    }
                }
                true
            }),
            Value::Array(items) => {
                let schema = schema.and_then(Schema::items);
                for (index, item) in items.iter_mut().enumerate() {
                    self.with_index(index, |pruner| pruner.prune_below(item, schema));
                }
            }
            _ => {}
        }
    }

    fn prune_below(&mut self, value: &mut Value, schema: Option<Schema<'_>>) {
        let resource = schema.is_some_and(|schema| schema.node().embedded_resource);
        self.prune(value, schema, resource);
    }

    /// Prunes below known fields of an object that keeps its unknown fields.
    fn preserve(&mut self, value: &mut Value, schema: Schema<'_>, resource: bool) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if resource && RESOURCE_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    if let FieldSchema::Known(schema) = field_schema(schema, name) {
                        self.with_field(name, |pruner| pruner.prune_below(value, schema));
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = schema.items() else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.with_index(index, |pruner| {
                        pruner.preserve(item, schema, schema.node().embedded_resource);
                    });
                }
            }
            _ => {}
        }
    }

    fn with_field(&mut self, name: &str, act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        act(self);
        self.path.truncate(length);
    }

    fn with_index(&mut self, index: usize, act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.extend(["[", index.to_string().as_str(), "]"]);
        act(self);
        self.path.truncate(length);
    }
}

enum FieldSchema<'a> {
    /// An allowed field. Without a schema (`additionalProperties: true`), values stay but objects lose their fields, as
    /// on the real server.
    Known(Option<Schema<'a>>),
    Unknown,
}

fn field_schema<'a>(schema: Schema<'a>, name: &str) -> FieldSchema<'a> {
    match schema.field(name) {
        Some(field) => FieldSchema::Known(Some(field)),
        None if schema.node().additional == AdditionalProperties::Any => FieldSchema::Known(None),
        None => FieldSchema::Unknown,
    }
}
