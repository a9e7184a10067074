//! OpenAPI schemas as text, for tests.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::schema::{AdditionalProperties, ListType, Node, NodeId, PatchStrategy, SchemaRoot, Schemas, Type};

/// Reads a schema; `definitions` contains the referenced definitions.
pub(crate) fn read(schema: &Value, definitions: &Value) -> SchemaRoot {
    let mut reader =
        Reader { schemas: Schemas::default(), definitions, known: BTreeMap::new(), uses: Vec::new() };
    let root = reader.node(schema);
    reader.add_resource_fields(root);
    // A use of a definition adds details: it becomes a separate node, filled after all nodes are read.
    for (id, definition, own) in std::mem::take(&mut reader.uses) {
        let mut node = reader.schemas.schema(definition).node().clone();
        node.default = own.get("default").cloned();
        node.patch = patch_strategy(&own);
        if let Some(kind) = own.get("x-kubernetes-map-type") {
            node.atomic_map = kind == "atomic";
        }
        *reader.schemas.node_mut(id) = node;
    }
    SchemaRoot::new(Arc::new(reader.schemas), root)
}

struct Reader<'a> {
    schemas: Schemas,
    definitions: &'a Value,
    known: BTreeMap<String, NodeId>,
    uses: Vec<(NodeId, NodeId, Value)>,
}

impl Reader<'_> {
    /// Adds the fields of every object to a whole object.
    fn add_resource_fields(&mut self, id: NodeId) {
        let metadata = crate::builtin::add_object_meta(&mut self.schemas);
        let text = self.schemas.add(Node { kind: Type::String, ..Node::default() });
        for (name, field) in [("metadata", metadata), ("apiVersion", text), ("kind", text)] {
            self.schemas.node_mut(id).properties.entry(name.into()).or_insert(field);
        }
    }

    fn node(&mut self, schema: &Value) -> NodeId {
        let reference = schema.get("$ref").or_else(|| schema.get("allOf")?.get(0)?.get("$ref"));
        let Some(reference) = reference.and_then(Value::as_str) else {
            let id = self.schemas.add(Node::default());
            self.fill(id, schema);
            return id;
        };
        let name = reference.rsplit('/').next().unwrap();
        let definition = if let Some(id) = self.known.get(name) {
            *id
        } else {
            let id = self.schemas.add(Node::default());
            self.known.insert(name.to_owned(), id);
            self.fill(id, &self.definitions[name]);
            self.schemas.node_mut(id).definition = Some(name.into());
            id
        };
        let id = self.schemas.add(Node::default());
        self.uses.push((id, definition, schema.clone()));
        id
    }

    fn fill(&mut self, id: NodeId, schema: &Value) {
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let flag = |name: &str| schema.get(name) == Some(&Value::Bool(true));
        let properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.as_str().into(), self.node(schema)))
            .collect();
        let additional = match schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => AdditionalProperties::None,
            Some(Value::Bool(true)) => AdditionalProperties::Any,
            Some(schema) => AdditionalProperties::Of(self.node(schema)),
        };
        let items = schema.get("items").map(|schema| self.node(schema));
        let names = |name: &str| -> Vec<Arc<str>> {
            let list = schema.get(name).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(|name| Some(name.as_str()?.into())).collect()
        };
        let patch = patch_strategy(schema);
        let list_type = match text("x-kubernetes-list-type") {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(names("x-kubernetes-list-map-keys")),
            Some(_) => ListType::Atomic,
            None => match (&patch.merge_key, patch.merge) {
                (Some(key), true) => ListType::Map(vec![Arc::clone(key)]),
                (None, true) => ListType::Set,
                (_, false) => ListType::Atomic,
            },
        };
        *self.schemas.node_mut(id) = Node {
            kind: match text("type") {
                _ if flag("x-kubernetes-int-or-string") || text("format") == Some("int-or-string") => {
                    Type::IntOrString
                }
                Some("object") => Type::Object,
                Some("array") => Type::Array,
                Some("string") => Type::String,
                Some("integer") => Type::Integer,
                Some("number") => Type::Number,
                Some("boolean") => Type::Boolean,
                _ => Type::Any,
            },
            format: text("format").map(Into::into),
            properties,
            additional,
            items,
            required: names("required"),
            default: schema.get("default").cloned(),
            list_type,
            atomic_map: text("x-kubernetes-map-type") == Some("atomic"),
            patch,
            preserve_unknown_fields: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            ..Node::default()
        };
        if flag("x-kubernetes-embedded-resource") {
            self.add_resource_fields(id);
        }
    }
}

fn patch_strategy(schema: &Value) -> PatchStrategy {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    let strategy = text("x-kubernetes-patch-strategy").unwrap_or_default();
    PatchStrategy {
        merge: strategy.split(',').any(|word| word == "merge"),
        replace: strategy == "replace",
        retain_keys: strategy.split(',').any(|word| word == "retainKeys"),
        merge_key: text("x-kubernetes-patch-merge-key").map(Into::into),
    }
}
