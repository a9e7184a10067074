//! What ownership needs to know of a schema: what is merged by field or item, and what as a whole.
//!
//! Source: kube-openapi `schemaconv` as kube-apiserver 1.36 uses it for built-in kinds and custom resources.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::schema::{Additional, ListType, Node, NodeId, Schema, Schemas, Type};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    /// As a schema describes it.
    Described {
        schema: Schema<'a>,
        /// A node around it keeps unknown fields; that goes on as long as nodes are described in place.
        preserve: bool,
        /// It is a whole object: its `metadata` has the shape all objects share.
        resource: bool,
    },
    /// Nobody described it: objects are merged by field, all else is a whole.
    Deduced,
    /// Nobody described it, and it is a whole.
    Untyped,
}

/// The class of values a shape is walked as.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'a> {
    Scalar(Scalar),
    List(List<'a>),
    Map(Map<'a>),
}

/// Which of the classes a shape allows a value picked. Two values of a place are alike when they picked the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// There was nothing to pick, or the value (null, say) does not tell.
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

/// How a list is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    pub(super) relation: Relation<'a>,
    pub(super) items: Shape<'a>,
}

/// What the items of a list are to each other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation<'a> {
    /// Parts of a whole.
    Atomic,
    /// Members of a set.
    Set,
    /// Told apart by these fields.
    Keys(&'a [Arc<str>]),
}

/// How an object is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<'a> {
    pub(super) atomic: bool,
    node: Option<&'a Node>,
    schema: Option<Schema<'a>>,
    preserve: bool,
    resource: bool,
    others: Option<Others>,
}

/// The shape of fields without a description of their own.
#[derive(Clone, Copy, Debug)]
enum Others {
    Described,
    Deduced,
    Untyped,
}

impl<'a> Shape<'a> {
    /// The shape of whole objects.
    pub(super) fn of_object(schema: Schema<'a>) -> Self {
        Self::Described { schema, preserve: schema.node().preserve_unknown_fields, resource: true }
    }

    fn child(schema: Schema<'a>, preserve: bool) -> Self {
        let node = schema.node();
        // A definition is described elsewhere: what holds around its use does not hold inside.
        let preserve = (preserve && node.definition.is_none()) || node.preserve_unknown_fields;
        match node.definition.as_deref() {
            Some("io.k8s.apimachinery.pkg.runtime.RawExtension") => Self::Untyped,
            _ => Self::Described { schema, preserve, resource: node.embedded_resource },
        }
    }

    /// What a value picks of what the shape allows.
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

    /// The class of values to walk as.
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

    /// How objects of this shape are merged, if it allows objects.
    pub(super) fn as_map(self) -> Option<Map<'a>> {
        match self.kind(Choice::Map) {
            Kind::Map(map) => Some(map),
            Kind::Scalar(_) | Kind::List(_) => None,
        }
    }

    /// How lists of this shape are merged, if it allows lists.
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
    /// The shape of a field; `None` when the schema does not know it.
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

    /// Whether the schema names this field, as opposed to describing all fields it does not name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.node.is_some_and(|node| node.properties.contains_key(name))
            || (self.resource && matches!(name, "apiVersion" | "kind" | "metadata"))
    }

    /// What stands in for a missing field.
    pub(super) fn default(&self, name: &str) -> Option<&'a Value> {
        self.schema?.field(name).filter(|_| self.names(name))?.node().default.as_ref()
    }

    /// Whether nothing is known of its fields: then ownership recorded earlier stays as it is when schemas change.
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

/// Quantities and formatted text may come as numbers.
fn string_kind(node: &Node) -> Scalar {
    let quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
    let free = !matches!(node.format.as_deref(), None | Some("" | "byte"));
    if free || node.definition.as_deref() == Some(quantity) { Scalar::Any } else { Scalar::String }
}

/// The metadata of objects whose schema leaves it to the server: custom resources and embedded resources.
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
