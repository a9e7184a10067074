//! The merge rules of a schema: values that merge by field or item, and values that are replaced as a whole.
//!
//! Source: kube-openapi `schemaconv` as kube-apiserver 1.36 uses it for built-in kinds and custom resources.

use std::sync::Arc;

use serde_json::Value;

use crate::schema::{AdditionalProperties, ListType, Node, Schema, Type};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    /// A value with a schema.
    Described {
        schema: Schema<'a>,
        /// True if an enclosing node keeps unknown fields. Nodes that are described in place inherit the flag.
        preserve: bool,
    },
    /// No description: objects merge by field, other values are replaced as a whole.
    Deduced,
    /// No description; replaced as a whole.
    Untyped,
}

/// The class of a value, which selects the way to walk the value.
#[derive(Clone, Copy, Debug)]
pub(super) enum ShapeClass<'a> {
    Scalar(Scalar),
    List(ListRule<'a>),
    Map(MapRule<'a>),
}

/// The class that a value picked from those its shape allows. Two values are alike if they picked the same class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClassChoice {
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
pub(super) struct ListRule<'a> {
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
pub(super) struct MapRule<'a> {
    pub(super) atomic: bool,
    node: Option<&'a Node>,
    schema: Option<Schema<'a>>,
    preserve: bool,
    others: Option<UndeclaredFields>,
}

/// The shape of fields without their own description.
#[derive(Clone, Copy, Debug)]
enum UndeclaredFields {
    Described,
    Deduced,
    Untyped,
}

impl<'a> Shape<'a> {
    pub(super) fn of_object(schema: Schema<'a>) -> Self {
        Self::Described { schema, preserve: schema.node().preserve_unknown_fields }
    }

    fn child(schema: Schema<'a>, preserve: bool) -> Self {
        let node = schema.node();
        // A definition is described elsewhere, so it does not inherit the flags around its use.
        let preserve = (preserve && node.definition.is_none()) || node.preserve_unknown_fields;
        match node.definition.as_deref() {
            Some("io.k8s.apimachinery.pkg.runtime.RawExtension") => Self::Untyped,
            _ => Self::Described { schema, preserve },
        }
    }

    pub(super) fn choice(self, value: Option<&Value>) -> ClassChoice {
        if let Self::Described { schema, .. } = self
            && schema.node().kind != Type::Any
        {
            return ClassChoice::Any;
        }
        match value {
            None | Some(Value::Null) => ClassChoice::Any,
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => ClassChoice::Scalar,
            Some(Value::Array(_)) => ClassChoice::List,
            Some(Value::Object(_)) => ClassChoice::Map,
        }
    }

    /// Returns the class that selects the way to walk a value.
    pub(super) fn kind(self, choice: ClassChoice) -> ShapeClass<'a> {
        let open = match self {
            Self::Described { schema, .. } => schema.node().kind == Type::Any,
            Self::Deduced | Self::Untyped => true,
        };
        match (open, choice) {
            (true, ClassChoice::Any | ClassChoice::Map) => ShapeClass::Map(self.map()),
            (true, ClassChoice::List) => ShapeClass::List(self.list()),
            (true, ClassChoice::Scalar) => ShapeClass::Scalar(Scalar::Any),
            (false, _) => self.described_kind(),
        }
    }

    fn described_kind(self) -> ShapeClass<'a> {
        let Self::Described { schema, .. } = self else { return ShapeClass::Map(self.map()) };
        let node = schema.node();
        match node.kind {
            Type::Any | Type::Object => ShapeClass::Map(self.map()),
            Type::Array => ShapeClass::List(self.list()),
            Type::Integer | Type::Number => ShapeClass::Scalar(Scalar::Numeric),
            Type::Boolean => ShapeClass::Scalar(Scalar::Boolean),
            Type::IntOrString => ShapeClass::Scalar(Scalar::Any),
            Type::String => ShapeClass::Scalar(string_kind(node)),
        }
    }

    /// Returns the merge rule of objects. `None` if the shape allows no objects.
    pub(super) fn as_map(self) -> Option<MapRule<'a>> {
        match self.kind(ClassChoice::Map) {
            ShapeClass::Map(map) => Some(map),
            ShapeClass::Scalar(_) | ShapeClass::List(_) => None,
        }
    }

    /// Returns the merge rule of lists. `None` if the shape allows no lists.
    pub(super) fn as_list(self) -> Option<ListRule<'a>> {
        match self.kind(ClassChoice::List) {
            ShapeClass::List(list) => Some(list),
            ShapeClass::Scalar(_) | ShapeClass::Map(_) => None,
        }
    }

    fn map(self) -> MapRule<'a> {
        let bare = |atomic, others| MapRule {
            atomic,
            node: None,
            schema: None,
            preserve: false,
            others: Some(others),
        };
        match self {
            Self::Deduced => bare(false, UndeclaredFields::Deduced),
            Self::Untyped => bare(true, UndeclaredFields::Untyped),
            Self::Described { schema, preserve } => {
                let node = schema.node();
                let others = match node.additional {
                    AdditionalProperties::Of(_) => Some(UndeclaredFields::Described),
                    AdditionalProperties::Any => Some(UndeclaredFields::Deduced),
                    AdditionalProperties::None if preserve || node.properties.is_empty() => {
                        Some(UndeclaredFields::Deduced)
                    }
                    AdditionalProperties::None => None,
                };
                MapRule { atomic: node.atomic_map, node: Some(node), schema: Some(schema), preserve, others }
            }
        }
    }

    fn list(self) -> ListRule<'a> {
        let Self::Described { schema, preserve, .. } = self else {
            return ListRule { relation: Relation::Atomic, items: Self::Untyped };
        };
        let node = schema.node();
        let relation = match &node.list_type {
            ListType::Map(keys) => Relation::Keys(keys),
            ListType::Set => Relation::Set,
            ListType::Atomic => Relation::Atomic,
        };
        ListRule {
            relation,
            items: schema.items().map_or(Self::Untyped, |items| Self::child(items, preserve)),
        }
    }
}

impl<'a> MapRule<'a> {
    /// Returns the shape of a field. `None` if the schema does not contain the field.
    pub(super) fn field(&self, name: &str) -> Option<Shape<'a>> {
        if self.node.is_some_and(|node| node.properties.contains_key(name)) {
            return Some(Shape::child(self.schema?.field(name)?, self.preserve));
        }
        match self.others? {
            UndeclaredFields::Described => Some(Shape::child(self.schema?.field(name)?, self.preserve)),
            UndeclaredFields::Deduced => Some(Shape::Deduced),
            UndeclaredFields::Untyped => Some(Shape::Untyped),
        }
    }

    /// True if the schema names this field explicitly.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.node.is_some_and(|node| node.properties.contains_key(name))
    }

    /// Returns the default of a field.
    pub(super) fn default(&self, name: &str) -> Option<&'a Value> {
        self.schema?.field(name).filter(|_| self.declares(name))?.node().default.as_ref()
    }

    /// True if no field is described. Recorded ownership then survives schema changes unchanged.
    pub(super) fn is_deduced(&self) -> bool {
        matches!(self.others, Some(UndeclaredFields::Deduced | UndeclaredFields::Untyped))
            && self.node.is_none_or(|node| node.properties.is_empty())
    }
}

/// Returns the scalar class of a string. Quantities and formatted strings may also be numbers.
fn string_kind(node: &Node) -> Scalar {
    let quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
    let free = !matches!(node.format.as_deref(), None | Some("" | "byte"));
    if free || node.definition.as_deref() == Some(quantity) { Scalar::Any } else { Scalar::String }
}
