//! Definitions: the shapes of kinds and of their parts.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value, json};

use super::{custom, reference};
use crate::{
    builtin::{self, Default, Field, Form, Keys, Merge, Shape, ShapeId, ValueType},
    kinds::ResourceType,
};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
/// Parameters and results of operations besides the kinds.
const COMMON: [&str; 4] = ["DeleteOptions", "ListMeta", "Patch", "Status"];

/// The definitions of a document.
pub(super) struct Definitions {
    values: Map<String, Value>,
    seen: HashSet<ShapeId>,
    /// The added versions. Each has its own delete options.
    versions: Vec<(Arc<str>, Arc<str>)>,
}

impl Definitions {
    /// Creates the definitions that every document contains.
    pub(super) fn new() -> Self {
        let mut definitions = Self { values: Map::new(), seen: HashSet::new(), versions: Vec::new() };
        for id in COMMON.iter().filter_map(|name| builtin::shapes().find(META, name)) {
            definitions.add_shape(id);
        }
        definitions
    }

    /// Adds the definitions of a resource, its list and its subresources.
    pub(super) fn add(&mut self, resource: &ResourceType) {
        let version = (Arc::clone(&resource.group), Arc::clone(&resource.version));
        if !self.versions.contains(&version) {
            self.versions.push(version);
        }
        let name = name_of(resource);
        if resource.custom.is_some() {
            self.values.insert(name.clone(), custom::definition(resource));
            if let Some(id) = builtin::shapes().find(META, "ObjectMeta") {
                self.add_shape(id);
            }
        } else if let Some(id) =
            name.rsplit_once('.').and_then(|(package, kind)| builtin::shapes().find(package, kind))
        {
            self.add_shape(id);
        }
        if resource.verbs.iter().any(|verb| &**verb == "list") {
            self.values.insert(format!("{name}List"), list(resource, &name));
        }
        for part in &resource.subresources {
            if let Some(id) = builtin::shape_of(&part.group, &part.version, &part.kind) {
                self.add_shape(id);
            }
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

    /// Adds a definition and all referenced definitions.
    fn add_shape(&mut self, id: ShapeId) {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if self.seen.insert(id) {
                let shape = builtin::shapes().get(id);
                self.values.insert(shape.name.to_string(), shape_value(shape, &mut open));
            }
        }
    }
}

fn shape_value(shape: &Shape, open: &mut Vec<ShapeId>) -> Value {
    let mut value = match &shape.form {
        Form::Fields(fields) => object_value(shape, fields, open),
        Form::Text(format) => json!({"type": "string", "format": format}),
        Form::Object => json!({"type": "object"}),
        Form::Any => json!({}),
        Form::Quantity => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        Form::IntOrString => {
            json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
        }
    };
    if shape.atomic {
        value["x-kubernetes-map-type"] = "atomic".into();
    }
    if let Some((group, version, kind)) = shape.is_kind.then(|| builtin::kind_of(shape)).flatten() {
        value[GVK] = json!([gvk(group, version, kind)]);
    }
    value
}

fn object_value(shape: &Shape, fields: &[Field], open: &mut Vec<ShapeId>) -> Value {
    let mut properties: Map<_, _> =
        fields.iter().map(|field| (field.name.to_owned(), field_value(field, open))).collect();
    if shape.is_kind {
        properties.extend(["apiVersion", "kind"].map(|name| (name.to_owned(), json!({"type": "string"}))));
    }
    let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut value = json!({"type": "object"});
    if !properties.is_empty() {
        value["properties"] = properties.into();
    }
    if !required.is_empty() {
        value["required"] = required.into();
    }
    value
}

fn field_value(field: &Field, open: &mut Vec<ShapeId>) -> Value {
    let mut value = type_value(&field.value, &field.allowed, open);
    if matches!(field.value, ValueType::Shape(_)) {
        value = json!({"allOf": [value]});
    }
    match &field.default {
        Default::None => {}
        Default::Zero => value["default"] = field.value.zero(),
        Default::Value(default) => value["default"] = default.clone(),
    }
    // Go represents bytes as a list.
    let is_list = matches!(field.value, ValueType::List(_) | ValueType::Bytes);
    match &field.keys {
        Keys::Set => value["x-kubernetes-list-type"] = "set".into(),
        Keys::Map(keys) => {
            value["x-kubernetes-list-type"] = "map".into();
            value["x-kubernetes-list-map-keys"] = keys.iter().map(|key| &**key).collect();
        }
        Keys::Atomic if field.atomic && is_list => value["x-kubernetes-list-type"] = "atomic".into(),
        Keys::Atomic if field.atomic => value["x-kubernetes-map-type"] = "atomic".into(),
        Keys::Atomic if field.granular => value["x-kubernetes-map-type"] = "granular".into(),
        Keys::Atomic => {}
    }
    let strategy = match (field.merge != Merge::Replace, field.retain_keys) {
        (true, true) => "merge,retainKeys",
        (true, false) => "merge",
        (false, true) => "retainKeys",
        (false, false) if field.replaces => "replace",
        (false, false) => return value,
    };
    value["x-kubernetes-patch-strategy"] = strategy.into();
    if let Merge::ByKey(key) = field.merge {
        value["x-kubernetes-patch-merge-key"] = key.into();
    }
    value
}

fn type_value(value: &ValueType, allowed: &[String], open: &mut Vec<ShapeId>) -> Value {
    match value {
        ValueType::Bool => json!({"type": "boolean"}),
        ValueType::Int32 => json!({"type": "integer", "format": "int32"}),
        ValueType::Int64 => json!({"type": "integer", "format": "int64"}),
        ValueType::Double => json!({"type": "number", "format": "double"}),
        ValueType::Text if allowed.is_empty() => json!({"type": "string"}),
        ValueType::Text => json!({"type": "string", "enum": allowed}),
        ValueType::Bytes => json!({"type": "string", "format": "byte"}),
        ValueType::Object => json!({"type": "object"}),
        ValueType::Shape(id) => {
            open.push(*id);
            reference(&builtin::shapes().get(*id).name)
        }
        ValueType::List(items) => {
            json!({"type": "array", "items": inner_value(&items.value, items.zero, allowed, open)})
        }
        ValueType::Map(values) => {
            let values = inner_value(&values.value, values.zero, allowed, open);
            json!({"type": "object", "additionalProperties": values})
        }
    }
}

fn inner_value(value: &ValueType, zero: bool, allowed: &[String], open: &mut Vec<ShapeId>) -> Value {
    let inner = type_value(value, allowed, open);
    if !zero {
        return inner;
    }
    let mut inner = if matches!(value, ValueType::Shape(_)) { json!({"allOf": [inner]}) } else { inner };
    inner["default"] = value.zero();
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

/// Returns a group, version and kind in the form of the documents.
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
