//! Removes what a schema does not know.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/pruning`.

use serde_json::Value;

use crate::schema::{Additional, Schema};

const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The walk through an object: where it is, and what it removed.
#[derive(Default)]
struct Pruner {
    path: String,
    removed: Vec<String>,
}

/// Removes what the schema does not know, and returns the paths of it, sorted (`spec.foo`), for strict requests.
/// Metadata of the object and of embedded resources is left alone.
pub(crate) fn prune(object: &mut Value, schema: Schema<'_>) -> Vec<String> {
    let mut pruner = Pruner::default();
    pruner.prune(object, Some(schema), true);
    pruner.removed.sort_unstable();
    pruner.removed
}

/// Prunes a part of an object; returns what went, sorted.
pub(super) fn prune_part(value: &mut Value, schema: Schema<'_>) -> Vec<String> {
    let mut pruner = Pruner::default();
    pruner.prune_below(value, Some(schema));
    pruner.removed.sort_unstable();
    pruner.removed
}

impl Pruner {
    /// `resource`: the value is a whole object, whose own fields stay whatever the schema says.
    fn prune(&mut self, value: &mut Value, schema: Option<Schema<'_>>, resource: bool) {
        if let Some(schema) = schema.filter(|schema| schema.node().preserve_unknown_fields) {
            return self.preserve(value, schema, resource);
        }
        match value {
            Value::Object(fields) => fields.retain(|name, value| {
                if resource && RESOURCE_FIELDS.contains(&name.as_str()) {
                    return true;
                }
                match schema.map_or(Shape::Unknown, |schema| shape(schema, name)) {
                    Shape::Known(schema) => self.inside(name, |pruner| pruner.prune_below(value, schema)),
                    Shape::Unknown => {
                        self.inside(name, |pruner| pruner.removed.push(pruner.path.clone()));
                        return false;
                    }
                }
                true
            }),
            Value::Array(items) => {
                let schema = schema.and_then(Schema::items);
                for (index, item) in items.iter_mut().enumerate() {
                    self.at(index, |pruner| pruner.prune_below(item, schema));
                }
            }
            _ => {}
        }
    }

    fn prune_below(&mut self, value: &mut Value, schema: Option<Schema<'_>>) {
        let resource = schema.is_some_and(|schema| schema.node().embedded_resource);
        self.prune(value, schema, resource);
    }

    /// Where unknown fields are kept, known ones are pruned all the same.
    fn preserve(&mut self, value: &mut Value, schema: Schema<'_>, resource: bool) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if resource && RESOURCE_FIELDS.contains(&name.as_str()) {
                        continue;
                    }
                    if let Shape::Known(schema) = shape(schema, name) {
                        self.inside(name, |pruner| pruner.prune_below(value, schema));
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = schema.items() else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.at(index, |pruner| pruner.preserve(item, schema, schema.node().embedded_resource));
                }
            }
            _ => {}
        }
    }

    fn inside(&mut self, name: &str, act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        act(self);
        self.path.truncate(length);
    }

    fn at(&mut self, index: usize, act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.extend(["[", index.to_string().as_str(), "]"]);
        act(self);
        self.path.truncate(length);
    }
}

/// What a schema says about a field.
enum Shape<'a> {
    /// It may be there. Without a schema (`additionalProperties: true`) values stay, but objects among them lose
    /// their fields; so does the real server.
    Known(Option<Schema<'a>>),
    Unknown,
}

fn shape<'a>(schema: Schema<'a>, name: &str) -> Shape<'a> {
    match schema.field(name) {
        Some(field) => Shape::Known(Some(field)),
        None if schema.node().additional == Additional::Any => Shape::Known(None),
        None => Shape::Unknown,
    }
}
