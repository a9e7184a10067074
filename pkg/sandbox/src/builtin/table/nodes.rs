//! Builds schemas from definitions.

use std::{collections::HashMap, sync::Arc};

use super::type_definitions::{
    ApplyListType, DefinitionKind, Field, FieldDefault, ListMerge, TypeDefinition, TypeDefinitions, ValueType,
};
use crate::schema::{AdditionalProperties, ListType, Node, NodeId, PatchStrategy, Schemas, Type};

/// Converts all definitions to nodes of one [`Schemas`]. The second value has the node of each definition, in the order
/// of [`TypeDefinitions::iter`]. Equal fields share a node.
pub(super) fn schemas(definitions: &TypeDefinitions) -> (Schemas, Vec<NodeId>) {
    let mut schemas = Schemas::default();
    let roots: Vec<_> = definitions.iter().map(|shape| schemas.add(definition(shape))).collect();
    let plain_text = schemas.add(Node { kind: Type::String, ..Node::default() });
    let mut builder = Builder { definitions, roots: &roots, schemas, nodes_by_line: HashMap::new() };
    // A field that overrides its definition copies the definition, so all definitions must be complete by then.
    for takes_a_copy in [false, true] {
        for (shape, root) in definitions.iter().zip(&roots) {
            let package = shape.name.rsplit_once('.').map_or("", |(package, _)| package);
            for field in fields(shape).iter().filter(|field| overrides_merge_rules(field) == takes_a_copy) {
                let id = builder.field(package, field);
                builder.schemas.node_mut(*root).properties.insert(field.name.into(), id);
            }
            if shape.is_kind {
                let properties = &mut builder.schemas.node_mut(*root).properties;
                properties.extend(["apiVersion", "kind"].map(|name| (Arc::from(name), plain_text)));
            }
        }
    }
    let schemas = builder.schemas;
    (schemas, roots)
}

fn fields(definition: &TypeDefinition) -> &[Field] {
    match &definition.kind {
        DefinitionKind::Fields(fields) => fields,
        _ => &[],
    }
}

/// True if a field refers to a definition and overrides the merge rules of the definition.
fn overrides_merge_rules(field: &Field) -> bool {
    let merged = field.list_merge != ListMerge::Replace;
    let more = field.atomic || field.granular || field.retain_keys || field.replaces || merged;
    more && matches!(field.value, ValueType::Shape(_))
}

fn is_struct(field: &Field) -> bool {
    matches!((&field.default, &field.value), (FieldDefault::Zero, ValueType::Shape(_)))
}

/// The node of a definition, without its fields.
fn definition(shape: &TypeDefinition) -> Node {
    let mut node =
        Node { definition: Some(Arc::clone(&shape.name)), atomic_map: shape.atomic, ..Node::default() };
    match &shape.kind {
        DefinitionKind::Fields(fields) => {
            node.kind = Type::Object;
            node.required =
                fields.iter().filter(|field| field.required).map(|field| field.name.into()).collect();
            node.structs =
                fields.iter().filter(|field| is_struct(field)).map(|field| field.name.into()).collect();
        }
        DefinitionKind::Text(format) => {
            node.kind = Type::String;
            node.format = Some((*format).into());
        }
        DefinitionKind::Quantity => node.format = Some("quantity".into()),
        DefinitionKind::IntOrString => node.kind = Type::IntOrString,
        DefinitionKind::Object => allow_any_fields(&mut node),
        DefinitionKind::Any => node.preserve_unknown_fields = true,
    }
    node
}

fn allow_any_fields(node: &mut Node) {
    node.kind = Type::Object;
    node.additional = AdditionalProperties::Any;
    node.preserve_unknown_fields = true;
}

struct Builder<'a> {
    definitions: &'a TypeDefinitions,
    roots: &'a [NodeId],
    schemas: Schemas,
    /// Nodes by package and table line: an alias may name different definitions in different packages.
    nodes_by_line: HashMap<(&'a str, &'static str), NodeId>,
}

impl<'a> Builder<'a> {
    fn field(&mut self, package: &'a str, field: &Field) -> NodeId {
        if let Some(id) = self.nodes_by_line.get(&(package, field.table_line())) {
            return *id;
        }
        let id = self.new_field(field);
        self.nodes_by_line.insert((package, field.table_line()), id);
        id
    }

    fn new_field(&mut self, field: &Field) -> NodeId {
        let mut node = match field.value {
            ValueType::Shape(id) if overrides_merge_rules(field) => return self.copy(id.index(), field),
            ValueType::Shape(id) => return self.roots[id.index()],
            _ => self.value(&field.value),
        };
        node.default = match &field.default {
            FieldDefault::None => None,
            FieldDefault::Zero => Some(field.value.zero()),
            FieldDefault::Value(value) => Some(value.clone()),
        };
        node.list_type = match &field.apply_list_type {
            ApplyListType::Atomic => ListType::Atomic,
            ApplyListType::Set => ListType::Set,
            ApplyListType::Map(keys) => ListType::Map(keys.clone()),
        };
        node.atomic_map = field.atomic && node.kind == Type::Object;
        node.patch = patch(field);
        self.schemas.add(node)
    }

    fn copy(&mut self, root: usize, field: &Field) -> NodeId {
        let mut node = self.schemas.node_mut(self.roots[root]).clone();
        node.atomic_map = field.atomic || node.atomic_map && !field.granular;
        node.patch = patch(field);
        self.schemas.add(node)
    }

    fn value(&mut self, value: &ValueType) -> Node {
        let mut node = Node::default();
        let format = |node: &mut Node, kind, format: &str| {
            node.kind = kind;
            node.format = Some(format.into());
        };
        match value {
            ValueType::Bool => node.kind = Type::Boolean,
            ValueType::Int32 => format(&mut node, Type::Integer, "int32"),
            ValueType::Int64 => format(&mut node, Type::Integer, "int64"),
            ValueType::Double => format(&mut node, Type::Number, "double"),
            ValueType::Text => node.kind = Type::String,
            ValueType::Bytes => format(&mut node, Type::String, "byte"),
            ValueType::Object => allow_any_fields(&mut node),
            ValueType::Shape(id) => return definition(self.definitions.get(*id)),
            ValueType::List(items) => {
                node.kind = Type::Array;
                node.items = Some(self.inner(&items.value));
            }
            ValueType::Map(values) => {
                node.kind = Type::Object;
                node.additional = AdditionalProperties::Of(self.inner(&values.value));
            }
        }
        node
    }

    fn inner(&mut self, value: &ValueType) -> NodeId {
        if let ValueType::Shape(id) = value {
            return self.roots[id.index()];
        }
        let node = self.value(value);
        self.schemas.add(node)
    }
}

fn patch(field: &Field) -> PatchStrategy {
    PatchStrategy {
        merge: field.list_merge != ListMerge::Replace,
        replace: field.replaces,
        retain_keys: field.retain_keys,
        merge_key: match field.list_merge {
            ListMerge::ByKey(key) => Some(key.into()),
            ListMerge::Items | ListMerge::Replace => None,
        },
    }
}
