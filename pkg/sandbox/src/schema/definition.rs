//! Parser of the schema of a custom resource (`openAPIV3Schema`).

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{AdditionalProperties, ListType, Node, NodeId, Rule, Schemas, Type, ValueChecks};
use crate::builtin::add_object_meta;

/// The maximum nesting depth of schemas. Deeper nodes allow any value; definitions with such nodes are rejected
/// earlier.
const MAX_DEPTH: usize = 128;

/// Parses an `openAPIV3Schema`.
/// Shape: `apiVersion`, `kind` and `metadata` of the root and of embedded resources always have the shapes that all
/// objects share. Only the schema's rules for names apply in addition. Descriptions are omitted. Parsing always
/// succeeds, because invalid definitions were rejected on creation.
pub(crate) fn parse(source: &Value) -> (Arc<Schemas>, NodeId) {
    let mut parser = Parser::default();
    let root = parser.node(source, MAX_DEPTH);
    parser.make_resource(root, source);
    parser.schemas.nodes.shrink_to_fit();
    (Arc::new(parser.schemas), root)
}

#[derive(Default)]
struct Parser {
    schemas: Schemas,
    interned: HashSet<Arc<str>>,
    object_meta: Option<NodeId>,
}

impl Parser {
    /// Returns a shared copy of a text, because schemas repeat the same few names.
    fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.interned.get(text) {
            return Arc::clone(known);
        }
        let word: Arc<str> = text.into();
        self.interned.insert(Arc::clone(&word));
        word
    }

    fn intern_list(&mut self, list: Option<&Value>) -> Vec<Arc<str>> {
        list.and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|t| self.intern(t))
            .collect()
    }

    fn node(&mut self, source: &Value, depth: usize) -> NodeId {
        let (Some(source), Some(depth)) = (source.as_object(), depth.checked_sub(1)) else {
            return self.schemas.add(Node { preserve_unknown_fields: true, ..Node::default() });
        };
        let flag = |name: &str| source.get(name).and_then(Value::as_bool).unwrap_or_default();
        let checks = self.checks(source, depth);
        let kind = kind(source);
        let format = source.get("format").and_then(Value::as_str).filter(|format| is_checked(kind, format));
        let mut node = Node {
            kind,
            format: format.map(|format| self.intern(format)),
            nullable: flag("nullable"),
            required: self.intern_list(source.get("required")),
            default: source.get("default").filter(|value| !value.is_null()).cloned(),
            list_type: self.list_type(source),
            atomic_map: source.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic"),
            preserve_unknown_fields: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            ..Node::default()
        };
        node.items =
            source.get("items").filter(|items| items.is_object()).map(|items| self.node(items, depth));
        node.additional = match source.get("additionalProperties") {
            Some(Value::Object(_)) => {
                AdditionalProperties::Of(self.node(&source["additionalProperties"], depth))
            }
            Some(Value::Bool(true)) => AdditionalProperties::Any,
            _ => AdditionalProperties::None,
        };
        node.properties = self.properties(source, depth);
        self.schemas.deep_rules |= checks.rules.iter().any(Rule::is_deep);
        node.rules_below = !checks.rules.is_empty() || self.has_rules_below(&node, &checks);
        node.checks = (!checks.is_empty()).then(|| Arc::new(checks));
        let embedded = node.embedded_resource;
        let id = self.schemas.add(node);
        if embedded {
            self.make_resource(id, &Value::Object(Map::new()));
        }
        id
    }

    fn properties(&mut self, source: &Map<String, Value>, depth: usize) -> BTreeMap<Arc<str>, NodeId> {
        let properties = source.get("properties").and_then(Value::as_object);
        let pairs = properties.into_iter().flatten();
        pairs.map(|(name, schema)| (self.intern(name), self.node(schema, depth))).collect()
    }

    fn checks(&mut self, source: &Map<String, Value>, depth: usize) -> ValueChecks {
        let mut nodes = |name: &str| -> Vec<NodeId> {
            let list = source.get(name).and_then(Value::as_array).into_iter().flatten();
            list.map(|schema| self.node(schema, depth)).collect()
        };
        let (all_of, any_of, one_of) = (nodes("allOf"), nodes("anyOf"), nodes("oneOf"));
        let not =
            source.get("not").filter(|schema| schema.is_object()).map(|schema| self.node(schema, depth));
        ValueChecks { all_of, any_of, one_of, not, ..ValueChecks::read(source) }
    }

    fn list_type(&mut self, source: &Map<String, Value>) -> ListType {
        match source.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(self.intern_list(source.get("x-kubernetes-list-map-keys"))),
            _ => ListType::Atomic,
        }
    }

    fn has_rules_below(&self, node: &Node, checks: &ValueChecks) -> bool {
        let additional = match node.additional {
            AdditionalProperties::Of(id) => Some(id),
            AdditionalProperties::None | AdditionalProperties::Any => None,
        };
        let mut below = node.properties.values().copied().chain(node.items).chain(additional);
        let mut alternatives = checks.all_of.iter().copied();
        below.any(|id| self.schemas.schema(id).node().rules_below)
            || alternatives.any(|id| self.schemas.schema(id).node().rules_below)
    }

    /// Adds the fields of every object to a node.
    fn make_resource(&mut self, id: NodeId, source: &Value) {
        let metadata = self.metadata(source);
        if self.schemas.schema(metadata).node().rules_below {
            self.schemas.node_mut(id).rules_below = true;
        }
        let text = self.schemas.add(Node { kind: Type::String, ..Node::default() });
        for (name, shape) in [("metadata", metadata), ("apiVersion", text), ("kind", text)] {
            let name = self.intern(name);
            let properties = &mut self.schemas.node_mut(id).properties;
            if &*name == "metadata" {
                properties.insert(name, shape);
            } else {
                properties.entry(name).or_insert(shape);
            }
        }
    }

    /// Returns the schema of metadata: a shared one, unless the root's schema has rules for names.
    fn metadata(&mut self, source: &Value) -> NodeId {
        let shared = match self.object_meta {
            Some(id) => id,
            None => *self.object_meta.insert(add_object_meta(&mut self.schemas)),
        };
        let names: Vec<_> = ["name", "generateName"]
            .into_iter()
            .filter_map(|name| Some((name, source.pointer("/properties/metadata/properties")?.get(name)?)))
            .collect();
        if names.is_empty() {
            return shared;
        }
        let node = self.schemas.schema(shared).node();
        let (definition, mut properties) = (node.definition.clone(), node.properties.clone());
        let mut rules_below = false;
        for (name, schema) in names {
            let id = self.node(schema, MAX_DEPTH);
            rules_below |= self.schemas.schema(id).node().rules_below;
            properties.insert(self.intern(name), id);
        }
        self.schemas.add(Node { definition, kind: Type::Object, properties, rules_below, ..Node::default() })
    }
}

fn kind(source: &Map<String, Value>) -> Type {
    if source.get("x-kubernetes-int-or-string").and_then(Value::as_bool) == Some(true) {
        return Type::IntOrString;
    }
    match source.get("type").and_then(Value::as_str).unwrap_or_default() {
        "object" => Type::Object,
        "array" => Type::Array,
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        _ => Type::Any,
    }
}

/// True if values of this type are checked against this format. Other formats are ignored.
/// Source: apiextensions-apiserver 1.36 `supportedVersionedFormats`.
fn is_checked(kind: Type, format: &str) -> bool {
    const OF_TEXT: &str = "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 \
    creditcard ssn hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname";
    match kind {
        Type::Any | Type::String | Type::IntOrString => {
            !format.is_empty() && OF_TEXT.split(' ').any(|known| known == format.replace('-', ""))
        }
        Type::Integer => matches!(format, "int32" | "int64"),
        Type::Number => matches!(format, "float" | "double"),
        Type::Object | Type::Array | Type::Boolean => false,
    }
}

/// Collects the formats of a schema that values are not checked against.
pub(crate) fn unknown_formats(source: &Value, found: &mut Vec<String>) {
    let Some(source) = source.as_object() else { return };
    let format = source.get("format").and_then(Value::as_str).unwrap_or_default();
    let kind = if source.contains_key("type") { kind(source) } else { Type::Any };
    if !format.is_empty() && !is_checked(kind, format) {
        found.push(format.to_owned());
    }
    let lists =
        ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|name| source.get(name)?.as_array()).flatten();
    let inner = ["items", "additionalProperties", "not"].into_iter().filter_map(|name| source.get(name));
    let fields = source.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    lists.chain(inner).chain(fields).for_each(|schema| unknown_formats(schema, found));
}
