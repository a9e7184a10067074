//! The shape of objects: one form for built-in kinds and custom resources.
//!
//! A [`Schemas`] owns all nodes of one source (the built-in table, or one version of one custom resource) and is never
//! changed after it was built. Nodes name each other by number, so recursive shapes (`JSONSchemaProps`) need no care.
//! Readers walk with a [`Schema`], a cheap copyable view of one node.
//!
//! The nodes of a custom resource are built when somebody first looks at them: a server may hold hundreds of
//! definitions of which a test touches three. Until then, its text is all there is ([`SchemaRoot::lazy`]).

mod checks;
mod definition;
mod object_meta;
mod pattern;
mod rule;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

pub(crate) use checks::{Bound, Checks};
pub(crate) use definition::{parse, unknown_formats};
pub(crate) use object_meta::object_meta;
pub(crate) use pattern::Pattern;
pub(crate) use rule::{Compiled, Rule, RuleReason};

/// All nodes of one source.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    nodes: Vec<Node>,
    /// Some rule nests so deep that rules are run with room ([`crate::cel::with_room`]).
    deep_rules: bool,
}

/// The number of a node in its [`Schemas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// A root of a [`Schemas`] together with it: what a served resource keeps. Clones share what was built.
#[derive(Clone, Debug)]
pub(crate) struct SchemaRoot {
    shared: Arc<SharedRoot>,
}

#[derive(Debug)]
struct SharedRoot {
    /// The JSON of a custom resource's `openAPIV3Schema`; absent for built-in kinds.
    source: Option<Box<str>>,
    built: OnceLock<(Arc<Schemas>, NodeId)>,
}

/// One node of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a> {
    schemas: &'a Schemas,
    id: NodeId,
}

/// What a value may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Anything at all: no type was given.
    #[default]
    Any,
    Object,
    Array,
    /// Text.
    String,
    Integer,
    Number,
    /// True or false.
    Boolean,
    /// A whole number or text (`x-kubernetes-int-or-string`).
    IntOrString,
}

/// How lists are merged (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    /// Each value on its own; values are scalars.
    Set,
    /// Each item by its keys, in the order the schema lists them.
    Map(Vec<Arc<str>>),
}

/// How a strategic merge patch treats a field (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchStrategy {
    /// `merge`: items of the list are merged, by `merge_key` when they are objects.
    pub merge: bool,
    /// `replace`: the object is replaced as a whole.
    pub replace: bool,
    /// `retainKeys`: what `$retainKeys` does not list goes.
    pub retain_keys: bool,
    /// The key that tells items apart.
    pub merge_key: Option<Arc<str>>,
}

/// What may stand under names that are no [`Node::properties`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Additional {
    #[default]
    None,
    Any,
    /// Values of this shape.
    Of(NodeId),
}

/// One node: a type with everything that is said about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// The name in the OpenAPI document of a shape that is used in several places, such as
    /// `io.k8s.api.core.v1.PodSpec`.
    pub definition: Option<Arc<str>>,
    /// What the value may be.
    pub kind: Type,
    /// The OpenAPI format, such as `int32` or `date-time`.
    pub format: Option<Arc<str>>,
    /// Null is a value of its own.
    pub nullable: bool,
    /// The fields of an object.
    pub properties: BTreeMap<Arc<str>, NodeId>,
    /// What other fields an object may have.
    pub additional: Additional,
    /// The items of a list.
    pub items: Option<NodeId>,
    /// Fields that must be there.
    pub required: Vec<Arc<str>>,
    /// Fields that hold an object even when nobody wrote to them: those of struct type in Go, for built-in kinds.
    pub structs: Vec<Arc<str>>,
    /// What stands in for a missing value.
    pub default: Option<Value>,
    /// How a list is merged.
    pub list_type: ListType,
    /// An object that is merged as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic_map: bool,
    /// How a strategic merge patch treats it.
    pub patch: PatchStrategy,
    /// Fields nobody described are kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown_fields: bool,
    /// It is a whole object with `apiVersion`, `kind` and `metadata` (`x-kubernetes-embedded-resource`).
    pub embedded_resource: bool,
    /// What else a value must fulfil; absent when there is nothing, as with built-in kinds.
    pub checks: Option<Arc<Checks>>,
    /// Rules ([`Checks::rules`]) stand here or somewhere below.
    pub rules_below: bool,
}

impl Schemas {
    /// Adds a node and returns its number.
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a schema has fewer than 2³² nodes"));
        self.nodes.push(node);
        id
    }

    /// A node that is still being built.
    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// The view of a node.
    pub(crate) fn schema(&self, id: NodeId) -> Schema<'_> {
        Schema { schemas: self, id }
    }
}

impl SchemaRoot {
    /// Puts a root and its nodes together.
    pub(crate) fn new(schemas: Arc<Schemas>, root: NodeId) -> Self {
        Self { shared: Arc::new(SharedRoot { source: None, built: OnceLock::from((schemas, root)) }) }
    }

    /// The shape of a custom resource, from its `openAPIV3Schema`. Nodes are built at first use.
    pub(crate) fn lazy(source: &Value) -> Self {
        let source = Some(source.to_string().into_boxed_str());
        Self { shared: Arc::new(SharedRoot { source, built: OnceLock::new() }) }
    }

    /// The view of the root.
    pub(crate) fn schema(&self) -> Schema<'_> {
        let (schemas, root) = self.shared.built.get_or_init(|| parse(&self.source().unwrap_or_default()));
        schemas.schema(*root)
    }

    /// The `openAPIV3Schema` of a custom resource as its definition has it, with descriptions, for the OpenAPI
    /// document. Read anew each time: it is several times the size of everything else that is kept.
    pub(crate) fn source(&self) -> Option<Value> {
        // The text was printed from a value.
        self.shared.source.as_ref().and_then(|text| serde_json::from_str(text).ok())
    }
}

impl<'a> Schema<'a> {
    /// Everything that is said about it.
    pub(crate) fn node(self) -> &'a Node {
        &self.schemas.nodes[self.id.0 as usize]
    }

    #[cfg(test)]
    pub(crate) fn id(self) -> NodeId {
        self.id
    }

    /// A field of an object, or else the shape of its additional fields.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        let node = self.node();
        let id = node.properties.get(name).copied().or(match node.additional {
            Additional::Of(id) => Some(id),
            Additional::None | Additional::Any => None,
        })?;
        Some(Self { id, ..self })
    }

    /// The items of a list.
    pub(crate) fn items(self) -> Option<Self> {
        Some(Self { id: self.node().items?, ..self })
    }

    /// Whether some rule of the same source needs room to be run ([`crate::cel::with_room`]).
    pub(crate) fn has_deep_rules(self) -> bool {
        self.schemas.deep_rules
    }

    /// Another node of the same source.
    pub(crate) fn at(self, id: NodeId) -> Self {
        Self { id, ..self }
    }

    /// The checks on its values, if any.
    pub(crate) fn checks(self) -> Option<&'a Checks> {
        self.node().checks.as_deref()
    }
}
