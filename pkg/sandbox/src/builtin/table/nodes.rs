//! Builds schemas from definitions.

use std::collections::HashMap;

use manifest::builtin::{ApplyListType, Definition, Field, FieldDefault, Form, ListMerge, ValueType, find};

use crate::schema::{AdditionalProperties, ListType, Node, NodeId, PatchStrategy, Schemas, Type};

/// The package of the kinds that every version has, and of `Status`.
pub(crate) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The nodes of definitions by package and name.
type Roots = HashMap<(&'static str, &'static str), NodeId>;

/// Adds the schema of `ObjectMeta`, which every object has and no custom definition describes.
pub(crate) fn add_object_meta(schemas: &mut Schemas) -> NodeId {
    let parts = ["ObjectMeta", "OwnerReference", "ManagedFieldsEntry", "FieldsV1", "Time"];
    let roots = add_definitions(schemas, &parts.into_iter().filter_map(|name| find("meta", name)));
    roots[&(META, "ObjectMeta")]
}

/// Adds the nodes of definitions, which may refer to each other. Equal fields share a node.
pub(super) fn add_definitions(
    schemas: &mut Schemas,
    definitions: &(impl Iterator<Item = &'static Definition> + Clone),
) -> Roots {
    let roots = definitions
        .clone()
        .map(|shape| ((shape.package, shape.name), schemas.add(definition(shape))))
        .collect();
    let mut builder = Builder { roots, schemas, nodes_by_line: HashMap::new() };
    // A field that overrides its definition copies the definition, so all definitions must be complete by then.
    for takes_a_copy in [false, true] {
        for shape in definitions.clone() {
            let root = builder.root(shape);
            for field in shape.fields().iter().filter(|field| overrides_merge_rules(field) == takes_a_copy) {
                let id = builder.field(shape.package, field);
                builder.schemas.node_mut(root).properties.insert(field.name.into(), id);
            }
        }
    }
    builder.roots
}

/// True if a field refers to a definition and overrides the merge rules of the definition.
fn overrides_merge_rules(field: &Field) -> bool {
    let merged = field.merge != ListMerge::Replace;
    let more = field.is_atomic || field.is_granular || field.retains_keys || field.is_replaced || merged;
    more && matches!(field.value, ValueType::Definition(_))
}

/// The node of a definition, without its fields.
fn definition(shape: &'static Definition) -> Node {
    let definition = Some(shape.full_name().into());
    let mut node = Node { definition, atomic_map: shape.is_atomic, ..Node::default() };
    match shape.form {
        Form::Fields => {
            let required = shape.fields().iter().filter(|field| field.is_required);
            node.kind = Type::Object;
            node.required = required.map(|field| field.name.into()).collect();
        }
        Form::Text(format) => {
            node.kind = Type::String;
            node.format = Some(format.into());
        }
        Form::Quantity => node.format = Some("quantity".into()),
        Form::IntOrText => node.kind = Type::IntOrString,
        Form::Object => allow_any_fields(&mut node),
        Form::Any | Form::SchemaOr(_) | Form::Duration => node.preserve_unknown_fields = true,
    }
    node
}

fn allow_any_fields(node: &mut Node) {
    node.kind = Type::Object;
    node.additional = AdditionalProperties::Any;
    node.preserve_unknown_fields = true;
}

struct Builder<'a> {
    roots: Roots,
    schemas: &'a mut Schemas,
    /// Nodes by package and table line: an alias may name different definitions in different packages.
    nodes_by_line: HashMap<(&'static str, &'static str), NodeId>,
}

impl Builder<'_> {
    fn root(&self, definition: &Definition) -> NodeId {
        self.roots[&(definition.package, definition.name)]
    }

    fn field(&mut self, package: &'static str, field: &Field) -> NodeId {
        if let Some(id) = self.nodes_by_line.get(&(package, field.attributes)) {
            return *id;
        }
        let id = self.new_field(field);
        self.nodes_by_line.insert((package, field.attributes), id);
        id
    }

    fn new_field(&mut self, field: &Field) -> NodeId {
        let mut node = match field.value {
            ValueType::Definition(of) if overrides_merge_rules(field) => return self.copy(of, field),
            ValueType::Definition(of) => return self.root(of),
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
            ApplyListType::Map(keys) => ListType::Map(keys.iter().map(|key| (*key).into()).collect()),
        };
        node.atomic_map = field.is_atomic && node.kind == Type::Object;
        node.patch = patch(field);
        self.schemas.add(node)
    }

    fn copy(&mut self, of: &Definition, field: &Field) -> NodeId {
        let root = self.root(of);
        let mut node = self.schemas.node_mut(root).clone();
        node.atomic_map = field.is_atomic || node.atomic_map && !field.is_granular;
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
            ValueType::Definition(of) => return definition(of),
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
        if let ValueType::Definition(of) = value {
            return self.root(of);
        }
        let node = self.value(value);
        self.schemas.add(node)
    }
}

fn patch(field: &Field) -> PatchStrategy {
    PatchStrategy {
        merge: field.merge != ListMerge::Replace,
        replace: field.is_replaced,
        retain_keys: field.retains_keys,
        merge_key: match field.merge {
            ListMerge::ByKey(key) => Some(key.into()),
            ListMerge::Set | ListMerge::Replace => None,
        },
    }
}
