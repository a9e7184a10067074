//! Schemas of objects: one representation for built-in kinds and custom resources.
//!
//! A [`Schemas`] owns all nodes of one source: the built-in table, or one version of one custom resource. It is
//! immutable once built. Nodes refer to each other by number, so recursive schemas (`JSONSchemaProps`) need no special
//! handling. Readers use a [`Schema`], a cheap copyable view of one node.
//!
//! The nodes of a custom resource are built at first use: a server may have hundreds of definitions of which a test
//! uses three. Until then, only the JSON text exists ([`SchemaRoot::lazy`]).

mod checks;
mod definition;
mod pattern;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

pub(crate) use checks::{Bound, Compiled, Rule, RuleReason, ValueChecks};
pub(crate) use definition::{parse, unknown_formats};
pub(crate) use pattern::Pattern;

/// All nodes of one source.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    nodes: Vec<Node>,
    /// True if some rule nests so deep that it needs extra stack ([`crate::cel::with_large_stack`]).
    deep_rules: bool,
}

/// The number of a node in its [`Schemas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// A root node with its [`Schemas`], for a served resource. Clones share the built nodes.
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

/// A view of one node of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a> {
    schemas: &'a Schemas,
    id: NodeId,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Any type: the schema names none.
    #[default]
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    /// An integer or a string (`x-kubernetes-int-or-string`).
    IntOrString,
}

impl Type {
    /// The word of schemas; empty if several types are allowed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any | Self::IntOrString => "",
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// The merge rule of a list (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    /// Merges by value; values are scalars.
    Set,
    /// Merges by the keys of an item, in the order of the schema.
    Map(Vec<Arc<str>>),
}

/// The strategic merge rule of a field (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatchStrategy {
    /// `merge`: list items are merged; objects are matched by `merge_key`.
    pub merge: bool,
    /// `replace`: the object is replaced as a whole.
    pub replace: bool,
    /// `retainKeys`: fields that `$retainKeys` does not list are removed.
    pub retain_keys: bool,
    /// The key field of list items.
    pub merge_key: Option<Arc<str>>,
}

/// The rule for fields outside [`Node::properties`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AdditionalProperties {
    #[default]
    None,
    Any,
    /// Values with this schema.
    Of(NodeId),
}

/// One node of a schema: a type with its attributes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// The name of a shared schema in the OpenAPI document, such as `io.k8s.api.core.v1.PodSpec`.
    pub definition: Option<Arc<str>>,
    pub kind: Type,
    /// The OpenAPI format, such as `int32` or `date-time`.
    pub format: Option<Arc<str>>,
    /// True if null is a valid value.
    pub nullable: bool,
    /// The fields of an object.
    pub properties: BTreeMap<Arc<str>, NodeId>,
    /// The rule for other fields of an object.
    pub additional: AdditionalProperties,
    /// The items of a list.
    pub items: Option<NodeId>,
    pub required: Vec<Arc<str>>,
    /// The default of a missing value.
    pub default: Option<Value>,
    /// The merge rule of a list.
    pub list_type: ListType,
    /// True for an object that merges as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic_map: bool,
    /// The strategic merge rule.
    pub patch: PatchStrategy,
    /// True if unknown fields are kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown_fields: bool,
    /// True for a whole object with `apiVersion`, `kind` and `metadata` (`x-kubernetes-embedded-resource`).
    pub embedded_resource: bool,
    /// Further conditions on values. `None` without conditions, as for built-in kinds.
    pub checks: Option<Arc<ValueChecks>>,
    /// True if this node or a descendant has rules ([`ValueChecks::rules`]).
    pub rules_below: bool,
}

impl Schemas {
    /// Adds a node and returns its number.
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a schema has fewer than 2³² nodes"));
        self.nodes.push(node);
        id
    }

    /// Returns a node that is still being built.
    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// Returns the view of a node.
    pub(crate) fn schema(&self, id: NodeId) -> Schema<'_> {
        Schema { schemas: self, id }
    }
}

impl SchemaRoot {
    pub(crate) fn new(schemas: Arc<Schemas>, root: NodeId) -> Self {
        Self { shared: Arc::new(SharedRoot { source: None, built: OnceLock::from((schemas, root)) }) }
    }

    /// Creates the schema of a custom resource from its `openAPIV3Schema`. The nodes are built at first use.
    pub(crate) fn lazy(source: &Value) -> Self {
        let source = Some(source.to_string().into_boxed_str());
        Self { shared: Arc::new(SharedRoot { source, built: OnceLock::new() }) }
    }

    /// Returns the view of the root.
    pub(crate) fn schema(&self) -> Schema<'_> {
        let (schemas, root) = self.shared.built.get_or_init(|| parse(&self.source().unwrap_or_default()));
        schemas.schema(*root)
    }

    /// Returns the unchanged `openAPIV3Schema` of a custom resource with descriptions, for the OpenAPI document. Parsed
    /// on each call, because the result is several times larger than all other data of the schema.
    pub(crate) fn source(&self) -> Option<Value> {
        // The text was printed from a value, so parsing succeeds.
        self.shared.source.as_ref().and_then(|text| serde_json::from_str(text).ok())
    }
}

impl<'a> Schema<'a> {
    pub(crate) fn node(self) -> &'a Node {
        &self.schemas.nodes[self.id.0 as usize]
    }

    #[cfg(test)]
    pub(crate) fn id(self) -> NodeId {
        self.id
    }

    /// Returns the schema of a field, or of additional fields if the field is not described.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        let node = self.node();
        let id = node.properties.get(name).copied().or(match node.additional {
            AdditionalProperties::Of(id) => Some(id),
            AdditionalProperties::None | AdditionalProperties::Any => None,
        })?;
        Some(Self { id, ..self })
    }

    pub(crate) fn items(self) -> Option<Self> {
        Some(Self { id: self.node().items?, ..self })
    }

    /// True if some rule of the same source needs extra stack ([`crate::cel::with_large_stack`]).
    pub(crate) fn has_deep_rules(self) -> bool {
        self.schemas.deep_rules
    }

    /// Returns another node of the same source.
    pub(crate) fn at(self, id: NodeId) -> Self {
        Self { id, ..self }
    }

    pub(crate) fn checks(self) -> Option<&'a ValueChecks> {
        self.node().checks.as_deref()
    }
}
