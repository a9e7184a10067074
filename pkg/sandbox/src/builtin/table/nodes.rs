//! Builds schemas from definitions.

use std::{collections::HashMap, sync::Arc};

use super::shapes::{Default, Field, Form, Keys, Merge, Shape, Shapes, ValueType};
use crate::schema::{Additional, ListType, Node, NodeId, PatchStrategy, Schemas, Type};

/// Converts all definitions to nodes of one [`Schemas`]. The second value has the node of each definition, in the order
/// of [`Shapes::iter`]. Equal fields share a node.
pub(super) fn schemas(shapes: &Shapes) -> (Schemas, Vec<NodeId>) {
    let mut schemas = Schemas::default();
    let roots: Vec<_> = shapes.iter().map(|shape| schemas.add(definition(shape))).collect();
    let plain_text = schemas.add(Node { kind: Type::String, ..Node::default() });
    let mut builder = Builder { shapes, roots: &roots, schemas, alike: HashMap::new() };
    // A field that overrides its definition copies the definition, so all definitions must be complete by then.
    for takes_a_copy in [false, true] {
        for (shape, root) in shapes.iter().zip(&roots) {
            let package = shape.name.rsplit_once('.').map_or("", |(package, _)| package);
            for field in fields(shape).iter().filter(|field| says_more(field) == takes_a_copy) {
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

fn fields(shape: &Shape) -> &[Field] {
    match &shape.form {
        Form::Fields(fields) => fields,
        _ => &[],
    }
}

/// True if a field refers to a definition and overrides the merge rules of the definition.
fn says_more(field: &Field) -> bool {
    let merged = field.merge != Merge::Replace;
    let more = field.atomic || field.granular || field.retain_keys || field.replaces || merged;
    more && matches!(field.value, ValueType::Shape(_))
}

fn is_struct(field: &Field) -> bool {
    matches!((&field.default, &field.value), (Default::Zero, ValueType::Shape(_)))
}

/// The node of a definition, without its fields.
fn definition(shape: &Shape) -> Node {
    let mut node =
        Node { definition: Some(Arc::clone(&shape.name)), atomic_map: shape.atomic, ..Node::default() };
    match &shape.form {
        Form::Fields(fields) => {
            node.kind = Type::Object;
            node.required =
                fields.iter().filter(|field| field.required).map(|field| field.name.into()).collect();
            node.structs =
                fields.iter().filter(|field| is_struct(field)).map(|field| field.name.into()).collect();
        }
        Form::Text(format) => {
            node.kind = Type::String;
            node.format = Some((*format).into());
        }
        Form::Quantity => node.format = Some("quantity".into()),
        Form::IntOrString => node.kind = Type::IntOrString,
        Form::Object => any_object(&mut node),
        Form::Any => node.preserve_unknown_fields = true,
    }
    node
}

fn any_object(node: &mut Node) {
    node.kind = Type::Object;
    node.additional = Additional::Any;
    node.preserve_unknown_fields = true;
}

struct Builder<'a> {
    shapes: &'a Shapes,
    roots: &'a [NodeId],
    schemas: Schemas,
    /// Nodes by package and table line: an alias may name different definitions in different packages.
    alike: HashMap<(&'a str, &'static str), NodeId>,
}

impl<'a> Builder<'a> {
    fn field(&mut self, package: &'a str, field: &Field) -> NodeId {
        if let Some(id) = self.alike.get(&(package, field.words())) {
            return *id;
        }
        let id = self.new_field(field);
        self.alike.insert((package, field.words()), id);
        id
    }

    fn new_field(&mut self, field: &Field) -> NodeId {
        let mut node = match field.value {
            ValueType::Shape(id) if says_more(field) => return self.copy(id.index(), field),
            ValueType::Shape(id) => return self.roots[id.index()],
            _ => self.value(&field.value),
        };
        node.default = match &field.default {
            Default::None => None,
            Default::Zero => Some(field.value.zero()),
            Default::Value(value) => Some(value.clone()),
        };
        node.list_type = match &field.keys {
            Keys::Atomic => ListType::Atomic,
            Keys::Set => ListType::Set,
            Keys::Map(keys) => ListType::Map(keys.clone()),
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
            ValueType::Object => any_object(&mut node),
            ValueType::Shape(id) => return definition(self.shapes.get(*id)),
            ValueType::List(items) => {
                node.kind = Type::Array;
                node.items = Some(self.inner(&items.value));
            }
            ValueType::Map(values) => {
                node.kind = Type::Object;
                node.additional = Additional::Of(self.inner(&values.value));
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
        merge: field.merge != Merge::Replace,
        replace: field.replaces,
        retain_keys: field.retain_keys,
        merge_key: match field.merge {
            Merge::ByKey(key) => Some(key.into()),
            Merge::Items | Merge::Replace => None,
        },
    }
}
