//! The CustomResourceDefinitions of Components and Blueprints, made from the types.

use std::sync::LazyLock;

use manifest::Object;
use schemars::{Schema, generate::SchemaSettings, transform::transform_subschemas};
use serde_json::{Value, json};

use crate::{BlueprintSpec, ComponentSpec, ComponentStatus};

/// The API group of Components.
pub const GROUP: &str = "core.cs.sap.com";
/// The `apiVersion` of Components.
pub const API_VERSION: &str = "core.cs.sap.com/v1alpha1";
/// The kind of Components.
pub const KIND: &str = "Component";
/// The kind of Blueprints.
pub const BLUEPRINT_KIND: &str = "Blueprint";

/// The structural schema of Components.
pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut status = structural::<ComponentStatus>();
    status.insert("default".to_owned(), json!({"observedGeneration": -1}));
    let mut schema = object_schema(
        "A set of objects that is rendered from a source and kept on a cluster.",
        &structural::<ComponentSpec>(),
    );
    schema["properties"]["status"] = status.to_value();
    schema
});

/// Returns the CustomResourceDefinitions of Components and Blueprints.
pub fn definitions() -> [Object; 2] {
    [definition(), blueprint_definition()]
}

/// Returns the CustomResourceDefinition of Components.
pub fn definition() -> Object {
    let column = |name, kind, path| json!({"name": name, "type": kind, "jsonPath": path});
    let version = json!({
        "name": "v1alpha1",
        "served": true,
        "storage": true,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            column("State", "string", ".status.state"),
            column("Reason", "string", ".status.conditions[?(@.type=='Ready')].reason"),
            column("Age", "date", ".metadata.creationTimestamp"),
        ],
        "schema": {"openAPIV3Schema": *SCHEMA},
    });
    custom_resource(KIND, &version)
}

/// Returns the CustomResourceDefinition of Blueprints.
fn blueprint_definition() -> Object {
    let schema = object_schema("The files of Components, kept on a cluster.", &structural::<BlueprintSpec>());
    let version =
        json!({"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    custom_resource(BLUEPRINT_KIND, &version)
}

fn object_schema(description: &str, spec: &Schema) -> Value {
    json!({
        "description": description,
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
        },
    })
}

/// Returns the definition of a namespaced kind with one version.
fn custom_resource(kind: &str, version: &Value) -> Object {
    let singular = kind.to_lowercase();
    let plural = format!("{singular}s");
    let whole = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular},
            "scope": "Namespaced",
            "versions": [version],
        },
    });
    Object::try_from(whole).expect("invariant: the literal above is a mapping")
}

fn structural<T: schemars::JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    make_structural(&mut schema);
    schema
}

/// Removes the parts of a JSON schema that Kubernetes does not accept. Missing fields are absent, never null.
fn make_structural(schema: &mut Schema) {
    if let Some(Value::Array(choices)) = schema.remove("anyOf") {
        // An optional type: the type, or null.
        let described = schema.remove("description");
        for choice in choices.into_iter().filter(|choice| choice["type"] != "null") {
            let Value::Object(fields) = choice else { continue };
            fields.into_iter().for_each(|(key, value)| drop(schema.insert(key, value)));
        }
        if let Some(described) = described {
            schema.insert("description".to_owned(), described);
        }
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    schema.remove("title");
    schema.remove("default");
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    transform_subschemas(&mut make_structural, schema);
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, file};

    use super::definitions;

    // Row: CMP-01, CMP-78
    #[test]
    fn the_definitions_in_the_docs_are_made_from_the_types() {
        let [component, blueprint] = definitions().map(|one| manifest::write_stream(&[one]) + "\n");
        assert_data_eq!(component, file!["../component.crd.yaml"].raw());
        assert_data_eq!(blueprint, file!["../blueprint.crd.yaml"].raw());
    }
}
