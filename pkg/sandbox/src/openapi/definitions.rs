//! Definitions: the shapes of kinds and of their parts. A custom kind has the schema of its definition, with the fields
//! that every object has.

use std::sync::Arc;

use manifest::builtin::{
    ApplyListType, Definition, ElementType, Field, FieldDefault, Form, ListMerge, ValueType, find_served,
};
use serde_json::{Map, Value, json};

use super::reference;
use crate::{
    builtin::{self, META},
    kinds::ResourceType,
};

/// Parameters and results of operations besides the kinds.
const COMMON: [&str; 4] = ["DeleteOptions", "ListMeta", "Patch", "Status"];

/// The definitions of a document.
pub(super) struct OpenApiDefinitions {
    values: Map<String, Value>,
    /// The added versions. Each has its own delete options.
    versions: Vec<(Arc<str>, Arc<str>)>,
}

impl OpenApiDefinitions {
    /// Creates the definitions that every document contains.
    pub(super) fn new() -> Self {
        let mut definitions = Self { values: Map::new(), versions: Vec::new() };
        for name in COMMON {
            definitions.add_definition(find_served(META, name));
        }
        definitions
    }

    pub(super) fn add(&mut self, resource: &ResourceType) {
        let version = (Arc::clone(&resource.group), Arc::clone(&resource.version));
        if !self.versions.contains(&version) {
            self.versions.push(version);
        }
        let name = name_of(resource);
        if resource.custom.is_some() {
            self.values.insert(name.clone(), definition(resource));
            self.add_definition(find_served(META, "ObjectMeta"));
        } else if let Some((package, kind)) = name.rsplit_once('.') {
            self.add_definition(find_served(package, kind));
        }
        if resource.verbs.iter().any(|verb| &**verb == "list") {
            self.values.insert(format!("{name}List"), list(resource, &name));
        }
        for part in &resource.subresources {
            self.add_definition(builtin::find_definition(&part.group, &part.version, &part.kind));
        }
    }

    pub(super) fn into_value(mut self) -> Value {
        if let Some(options) = self.values.get_mut(&format!("{META}.DeleteOptions")) {
            let core = (Arc::from(""), Arc::from("v1"));
            let others = self.versions.iter().filter(|version| **version != core);
            let all = std::iter::once(&core).chain(others);
            options[GVK] = all.map(|(group, version)| gvk(group, version, "DeleteOptions")).collect();
        }
        Value::Object(self.values)
    }

    fn add_definition(&mut self, definition: Option<&'static Definition>) {
        let mut open: Vec<_> = definition.into_iter().collect();
        while let Some(shape) = open.pop() {
            let name = shape.full_name();
            if !self.values.contains_key(&name) {
                self.values.insert(name, definition_value(shape, &mut open));
            }
        }
    }
}

/// Returns the value of a definition and adds the definitions that it refers to.
fn definition_value(definition: &'static Definition, referenced: &mut Vec<&'static Definition>) -> Value {
    let mut value = match definition.form {
        Form::Fields => object_value(definition.fields(), referenced),
        Form::Text(format) => json!({"type": "string", "format": format}),
        Form::Object => json!({"type": "object"}),
        Form::Any | Form::SchemaOr(_) | Form::Duration => json!({}),
        Form::Quantity => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        Form::IntOrText => {
            json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
        }
    };
    if definition.is_atomic {
        value["x-kubernetes-map-type"] = "atomic".into();
    }
    if definition.is_kind {
        let (group, version, kind) = builtin::kind_of(definition);
        value[GVK] = json!([gvk(group, version, kind)]);
    }
    value
}

fn object_value(fields: &[Field], open: &mut Vec<&'static Definition>) -> Value {
    let properties: Map<_, _> =
        fields.iter().map(|field| (field.name.to_owned(), field_value(field, open))).collect();
    let required: Vec<_> = fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    let mut value = json!({"type": "object"});
    if !properties.is_empty() {
        value["properties"] = properties.into();
    }
    if !required.is_empty() {
        value["required"] = required.into();
    }
    value
}

fn field_value(field: &Field, open: &mut Vec<&'static Definition>) -> Value {
    let mut value = type_value(&field.value, &field.allowed_values, open);
    if matches!(field.value, ValueType::Definition(_)) {
        value = json!({"allOf": [value]});
    }
    match &field.default {
        FieldDefault::None => {}
        FieldDefault::Zero => value["default"] = field.value.zero(),
        FieldDefault::Value(default) => value["default"] = default.clone(),
    }
    // Go represents bytes as a list.
    let is_list = matches!(field.value, ValueType::List(_) | ValueType::Bytes);
    match &field.apply_list_type {
        ApplyListType::Set => value["x-kubernetes-list-type"] = "set".into(),
        ApplyListType::Map(keys) => {
            value["x-kubernetes-list-type"] = "map".into();
            value["x-kubernetes-list-map-keys"] = json!(keys);
        }
        ApplyListType::Atomic if field.is_atomic && is_list => {
            value["x-kubernetes-list-type"] = "atomic".into();
        }
        ApplyListType::Atomic if field.is_atomic => value["x-kubernetes-map-type"] = "atomic".into(),
        ApplyListType::Atomic if field.is_granular => value["x-kubernetes-map-type"] = "granular".into(),
        ApplyListType::Atomic => {}
    }
    let strategy = match (field.merge != ListMerge::Replace, field.retains_keys) {
        (true, true) => "merge,retainKeys",
        (true, false) => "merge",
        (false, true) => "retainKeys",
        (false, false) if field.is_replaced => "replace",
        (false, false) => return value,
    };
    value["x-kubernetes-patch-strategy"] = strategy.into();
    if let ListMerge::ByKey(key) = field.merge {
        value["x-kubernetes-patch-merge-key"] = key.into();
    }
    value
}

fn type_value(value: &ValueType, allowed: &[String], open: &mut Vec<&'static Definition>) -> Value {
    match value {
        ValueType::Bool => json!({"type": "boolean"}),
        ValueType::Int32 => json!({"type": "integer", "format": "int32"}),
        ValueType::Int64 => json!({"type": "integer", "format": "int64"}),
        ValueType::Double => json!({"type": "number", "format": "double"}),
        ValueType::Text if allowed.is_empty() => json!({"type": "string"}),
        ValueType::Text => json!({"type": "string", "enum": allowed}),
        ValueType::Bytes => json!({"type": "string", "format": "byte"}),
        ValueType::Object => json!({"type": "object"}),
        ValueType::Definition(of) => {
            open.push(of);
            reference(&of.full_name())
        }
        ValueType::List(items) => json!({"type": "array", "items": inner_value(items, allowed, open)}),
        ValueType::Map(values) => {
            json!({"type": "object", "additionalProperties": inner_value(values, allowed, open)})
        }
    }
}

fn inner_value(element: &ElementType, allowed: &[String], open: &mut Vec<&'static Definition>) -> Value {
    let mut inner = type_value(&element.value, allowed, open);
    if element.has_zero_default {
        if matches!(element.value, ValueType::Definition(_)) {
            inner = json!({"allOf": [inner]});
        }
        inner["default"] = element.value.zero();
    }
    inner
}

/// Returns the list definition, which has the same form for every kind.
fn list(resource: &ResourceType, name: &str) -> Value {
    let mut item = reference(name);
    let mut metadata = json!({"allOf": [reference(&format!("{META}.ListMeta"))]});
    if resource.custom.is_none() {
        metadata["default"] = json!({});
        item = json!({"allOf": [item], "default": {}});
    }
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": metadata,
            "items": {"type": "array", "items": item},
        },
        GVK: [gvk(&resource.group, &resource.version, &resource.list_kind)],
    })
}

/// The extension that names the kind of a definition or an operation.
pub(super) const GVK: &str = "x-kubernetes-group-version-kind";

pub(super) fn gvk(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

/// Returns the name of a resource's definition. For a custom resource: the reversed group, version and kind.
pub(super) fn name_of(resource: &ResourceType) -> String {
    if let Some(definition) =
        resource.schema.schema().node().definition.as_ref().filter(|_| resource.custom.is_none())
    {
        return definition.to_string();
    }
    let group: Vec<_> = resource.group.rsplit('.').collect();
    format!("{}.{}.{}", group.join("."), resource.version, resource.kind)
}

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
