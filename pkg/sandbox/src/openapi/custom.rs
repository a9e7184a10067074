//! Definitions of custom kinds: the CRD's schema with the fields that every object has.

use serde_json::{Map, Value, json};

use super::{
    definitions::{GVK, gvk},
    reference,
};
use crate::kinds::ResourceType;

/// Returns the definition of a custom kind.
pub(super) fn definition(resource: &ResourceType) -> Value {
    let source = resource.schema.source();
    let mut value = source.as_ref().map_or_else(|| json!({"type": "object"}), schema);
    add_identity(&mut value);
    value[GVK] = json!([gvk(&resource.group, &resource.version, &resource.kind)]);
    value
}

/// Sets the fields of every object, regardless of the schema.
fn add_identity(value: &mut Value) {
    let properties = &mut value["properties"];
    if !properties.is_object() {
        *properties = json!({});
    }
    properties["apiVersion"] = json!({"type": "string"});
    properties["kind"] = json!({"type": "string"});
    properties["metadata"] = json!({"allOf": [reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")]});
}

fn is_true(schema: &Value, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

/// Returns the published form of a schema. Shape: the schema was accepted, and is therefore structural and of bounded
/// depth.
fn schema(source: &Value) -> Value {
    let int_or_string = is_true(source, "x-kubernetes-int-or-string");
    let embedded = is_true(source, "x-kubernetes-embedded-resource");
    let Value::Object(source) = source else { return source.clone() };
    let reported = source.iter().map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                fields.iter().map(|(name, field)| (name.clone(), schema(field))).collect()
            }
            ("items" | "additionalProperties", value) => schema(value),
            (_, value) => value.clone(),
        };
        (name.clone(), value)
    });
    let mut reported: Map<_, _> = reported.collect();
    let has_kinds = reported.contains_key("anyOf") || reported.contains_key("allOf");
    if int_or_string && !has_kinds {
        reported.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    }
    let mut reported = Value::Object(reported);
    if embedded {
        add_identity(&mut reported);
        reported["required"] = json!(["kind", "apiVersion"]);
    }
    reported
}
