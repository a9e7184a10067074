//! The merge rules of a schema: values that merge by field or item, and values that are replaced as a whole.
//!
//! Source: kube-openapi `schemaconv` as kube-apiserver 1.36 uses it for built-in kinds and custom resources.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::schema::{Additional, ListType, Node, NodeId, Schema, Schemas, Type};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    /// A value with a schema.
    Described {
        schema: Schema<'a>,
        /// True if an enclosing node keeps unknown fields. Nodes that are described in place inherit the flag.
        preserve: bool,
        /// True for a whole object: its `metadata` has the shape that all objects share.
        resource: bool,
    },
    /// No description: objects merge by field, other values are replaced as a whole.
    Deduced,
    /// No description; replaced as a whole.
    Untyped,
}

/// The class of a value, which selects the way to walk the value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'a> {
    Scalar(Scalar),
    List(List<'a>),
    Map(Map<'a>),
}

/// The class that a value picked from those its shape allows. Two values are alike if they picked the same class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The shape offers no choice, or the value (null, for example) does not decide.
    Any,
    Scalar,
    List,
    Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Any,
}

/// The merge rule of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    pub(super) relation: Relation<'a>,
    pub(super) items: Shape<'a>,
}

/// The relation between the items of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation<'a> {
    /// Replaced as a whole.
    Atomic,
    /// A set of values.
    Set,
    /// Identified by these fields.
    Keys(&'a [Arc<str>]),
}

/// The merge rule of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<'a> {
    pub(super) atomic: bool,
    node: Option<&'a Node>,
    schema: Option<Schema<'a>>,
    preserve: bool,
    resource: bool,
    others: Option<Others>,
}

/// The shape of fields without their own description.
#[derive(Clone, Copy, Debug)]
enum Others {
    Described,
    Deduced,
    Untyped,
}

impl<'a> Shape<'a> {
    /// Returns the shape of whole objects.
    pub(super) fn of_object(schema: Schema<'a>) -> Self {
        Self::Described { schema, preserve: schema.node().preserve_unknown_fields, resource: true }
    }

    fn child(schema: Schema<'a>, preserve: bool) -> Self {
        let node = schema.node();
        // A definition is described elsewhere, so it does not inherit the flags around its use.
        let preserve = (preserve && node.definition.is_none()) || node.preserve_unknown_fields;
        match node.definition.as_deref() {
            Some("io.k8s.apimachinery.pkg.runtime.RawExtension") => Self::Untyped,
            _ => Self::Described { schema, preserve, resource: node.embedded_resource },
        }
    }

    /// Returns the class that a value picks.
    pub(super) fn choice(self, value: Option<&Value>) -> Choice {
        if let Self::Described { schema, .. } = self
            && schema.node().kind != Type::Any
        {
            return Choice::Any;
        }
        match value {
            None | Some(Value::Null) => Choice::Any,
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Choice::Scalar,
            Some(Value::Array(_)) => Choice::List,
            Some(Value::Object(_)) => Choice::Map,
        }
    }

    /// Returns the class that selects the way to walk a value.
    pub(super) fn kind(self, choice: Choice) -> Kind<'a> {
        let open = match self {
            Self::Described { schema, .. } => schema.node().kind == Type::Any,
            Self::Deduced | Self::Untyped => true,
        };
        match (open, choice) {
            (true, Choice::Any | Choice::Map) => Kind::Map(self.map()),
            (true, Choice::List) => Kind::List(self.list()),
            (true, Choice::Scalar) => Kind::Scalar(Scalar::Any),
            (false, _) => self.described_kind(),
        }
    }

    fn described_kind(self) -> Kind<'a> {
        let Self::Described { schema, .. } = self else { return Kind::Map(self.map()) };
        let node = schema.node();
        match node.kind {
            Type::Any | Type::Object => Kind::Map(self.map()),
            Type::Array => Kind::List(self.list()),
            Type::Integer | Type::Number => Kind::Scalar(Scalar::Numeric),
            Type::Boolean => Kind::Scalar(Scalar::Boolean),
            Type::IntOrString => Kind::Scalar(Scalar::Any),
            Type::String => Kind::Scalar(string_kind(node)),
        }
    }

    /// Returns the merge rule of objects. `None` if the shape allows no objects.
    pub(super) fn as_map(self) -> Option<Map<'a>> {
        match self.kind(Choice::Map) {
            Kind::Map(map) => Some(map),
            Kind::Scalar(_) | Kind::List(_) => None,
        }
    }

    /// Returns the merge rule of lists. `None` if the shape allows no lists.
    pub(super) fn as_list(self) -> Option<List<'a>> {
        match self.kind(Choice::List) {
            Kind::List(list) => Some(list),
            Kind::Scalar(_) | Kind::Map(_) => None,
        }
    }

    fn map(self) -> Map<'a> {
        let bare = |atomic, others| Map {
            atomic,
            node: None,
            schema: None,
            preserve: false,
            resource: false,
            others: Some(others),
        };
        match self {
            Self::Deduced => bare(false, Others::Deduced),
            Self::Untyped => bare(true, Others::Untyped),
            Self::Described { schema, preserve, resource } => {
                let node = schema.node();
                let others = match node.additional {
                    Additional::Of(_) => Some(Others::Described),
                    Additional::Any => Some(Others::Deduced),
                    Additional::None if preserve || node.properties.is_empty() => Some(Others::Deduced),
                    Additional::None => None,
                };
                Map {
                    atomic: node.atomic_map,
                    node: Some(node),
                    schema: Some(schema),
                    preserve,
                    resource,
                    others,
                }
            }
        }
    }

    fn list(self) -> List<'a> {
        let Self::Described { schema, preserve, .. } = self else {
            return List { relation: Relation::Atomic, items: Self::Untyped };
        };
        let node = schema.node();
        let relation = match &node.list_type {
            ListType::Map(keys) => Relation::Keys(keys),
            ListType::Set => Relation::Set,
            ListType::Atomic => Relation::Atomic,
        };
        List { relation, items: schema.items().map_or(Self::Untyped, |items| Self::child(items, preserve)) }
    }
}

impl<'a> Map<'a> {
    /// Returns the shape of a field. `None` if the schema does not contain the field.
    pub(super) fn field(&self, name: &str) -> Option<Shape<'a>> {
        if self.resource && name == "metadata" && !self.describes_metadata() {
            return Some(Shape::child(METADATA.schema(), false));
        }
        if self.node.is_some_and(|node| node.properties.contains_key(name)) {
            return Some(Shape::child(self.schema?.field(name)?, self.preserve));
        }
        if self.resource && matches!(name, "apiVersion" | "kind") {
            return Some(Shape::Untyped);
        }
        match self.others? {
            Others::Described => Some(Shape::child(self.schema?.field(name)?, self.preserve)),
            Others::Deduced => Some(Shape::Deduced),
            Others::Untyped => Some(Shape::Untyped),
        }
    }

    /// True if the schema names this field explicitly.
    pub(super) fn names(&self, name: &str) -> bool {
        self.node.is_some_and(|node| node.properties.contains_key(name))
            || (self.resource && matches!(name, "apiVersion" | "kind" | "metadata"))
    }

    /// Returns the default of a field.
    pub(super) fn default(&self, name: &str) -> Option<&'a Value> {
        self.schema?.field(name).filter(|_| self.names(name))?.node().default.as_ref()
    }

    /// True if no field is described. Recorded ownership then survives schema changes unchanged.
    pub(super) fn is_deduced(&self) -> bool {
        matches!(self.others, Some(Others::Deduced | Others::Untyped))
            && self.node.is_none_or(|node| node.properties.is_empty())
    }

    fn describes_metadata(&self) -> bool {
        self.schema.and_then(|schema| schema.field("metadata")).is_some_and(|metadata| {
            metadata.node().definition.as_deref().is_some_and(|name| name.ends_with(".ObjectMeta"))
        })
    }
}

/// Returns the scalar class of a string. Quantities and formatted strings may also be numbers.
fn string_kind(node: &Node) -> Scalar {
    let quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
    let free = !matches!(node.format.as_deref(), None | Some("" | "byte"));
    if free || node.definition.as_deref() == Some(quantity) { Scalar::Any } else { Scalar::String }
}

/// The schema of metadata for objects whose schema omits metadata: custom resources and embedded resources.
static METADATA: LazyLock<SchemaOfMetadata> = LazyLock::new(SchemaOfMetadata::new);

struct SchemaOfMetadata {
    schemas: Schemas,
    root: NodeId,
}

impl SchemaOfMetadata {
    fn new() -> Self {
        let mut schemas = Schemas::default();
        let text = schemas.add(Node { kind: Type::String, ..Node::default() });
        let number = schemas.add(Node { kind: Type::Integer, ..Node::default() });
        let any = schemas.add(Node::default());
        let texts =
            schemas.add(Node { kind: Type::Object, additional: Additional::Of(text), ..Node::default() });
        let finalizers = schemas.add(Node {
            kind: Type::Array,
            items: Some(text),
            list_type: ListType::Set,
            ..Node::default()
        });
        let owner = schemas.add(Node {
            kind: Type::Object,
            properties: ["apiVersion", "kind", "name", "uid"]
                .map(|name| (name.into(), text))
                .into_iter()
                .chain(["blockOwnerDeletion", "controller"].map(|name| (name.into(), any)))
                .collect(),
            atomic_map: true,
            ..Node::default()
        });
        let owners = schemas.add(Node {
            kind: Type::Array,
            items: Some(owner),
            list_type: ListType::Map(vec!["uid".into()]),
            ..Node::default()
        });
        let entries = schemas.add(Node { kind: Type::Array, items: Some(any), ..Node::default() });
        let root = schemas.add(Node {
            kind: Type::Object,
            properties: [
                ("name", text),
                ("generateName", text),
                ("namespace", text),
                ("selfLink", text),
                ("uid", text),
                ("resourceVersion", text),
                ("generation", number),
                ("creationTimestamp", text),
                ("deletionTimestamp", text),
                ("deletionGracePeriodSeconds", number),
                ("labels", texts),
                ("annotations", texts),
                ("ownerReferences", owners),
                ("finalizers", finalizers),
                ("managedFields", entries),
            ]
            .map(|(name, id)| (name.into(), id))
            .into(),
            ..Node::default()
        });
        Self { schemas, root }
    }

    fn schema(&'static self) -> Schema<'static> {
        self.schemas.schema(self.root)
    }
}
