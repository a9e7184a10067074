//! Definitions of custom kinds: the schema of the definition, with what every object has.

use serde_json::{Map, Value, json};

use super::{
    Dialect,
    definitions::{GVK, gvk},
};
use crate::kinds::ResourceType;

/// The definition of a custom kind.
pub(super) fn definition(dialect: Dialect, resource: &ResourceType) -> Value {
    let source = resource.schema.source();
    let is_open = source.as_ref().is_some_and(|source| is(source, PRESERVE));
    let mut value = match &source {
        // Version 2 says nothing more of an object whose fields are free.
        Some(_) if is_open && dialect == Dialect::V2 => json!({"type": "object"}),
        Some(source) => schema(dialect, source),
        None => json!({"type": "object"}),
    };
    if dialect == Dialect::V3 || !is_open {
        add_identity(dialect, &mut value);
    }
    value[GVK] = json!([gvk(&resource.group, &resource.version, &resource.kind)]);
    value
}

/// Puts in the fields every object has, whatever the schema says of them.
fn add_identity(dialect: Dialect, value: &mut Value) {
    let metadata = dialect.reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    let metadata = if dialect == Dialect::V3 { json!({"allOf": [metadata]}) } else { metadata };
    let properties = &mut value["properties"];
    if !properties.is_object() {
        *properties = json!({});
    }
    properties["apiVersion"] = json!({"type": "string"});
    properties["kind"] = json!({"type": "string"});
    properties["metadata"] = metadata;
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

fn is(schema: &Value, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

/// Fields of a schema that hold schemas by name.
const BY_NAME: [&str; 1] = ["properties"];
/// Fields of a schema that hold a schema.
const WITHIN: [&str; 2] = ["items", "additionalProperties"];
/// What the second version of OpenAPI has no words for.
const NOT_IN_V2: [&str; 6] = ["default", "nullable", "allOf", "anyOf", "oneOf", "not"];

/// The schema as it is told. Shape: the schema was accepted, so it is structural and of bounded depth.
/// Source: kube-apiserver 1.36: in version 2, what may be null, is a number or text, or has unknown fields, has no type.
fn schema(dialect: Dialect, source: &Value) -> Value {
    let int_or_string = is(source, "x-kubernetes-int-or-string");
    let embedded = is(source, "x-kubernetes-embedded-resource");
    let is_open = int_or_string || is(source, "nullable") || is(source, PRESERVE);
    let Value::Object(source) = source else { return source.clone() };
    let mut told = Map::new();
    for (name, value) in source {
        let hidden_in_v2 = NOT_IN_V2.contains(&name.as_str())
            || is_open
                && (name == "type" || BY_NAME.contains(&name.as_str()) || WITHIN.contains(&name.as_str()));
        if dialect == Dialect::V2 && hidden_in_v2 {
            continue;
        }
        let value = match (name.as_str(), value) {
            (name, Value::Object(fields)) if BY_NAME.contains(&name) => {
                fields.iter().map(|(name, field)| (name.clone(), schema(dialect, field))).collect()
            }
            (name, value) if WITHIN.contains(&name) => schema(dialect, value),
            (_, value) => value.clone(),
        };
        told.insert(name.clone(), value);
    }
    let has_kinds = told.contains_key("anyOf") || told.contains_key("allOf");
    if dialect == Dialect::V3 && int_or_string && !has_kinds {
        told.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    }
    let mut told = Value::Object(told);
    if dialect == Dialect::V3 && embedded {
        add_identity(dialect, &mut told);
        told["required"] = json!(["kind", "apiVersion"]);
    }
    told
}
