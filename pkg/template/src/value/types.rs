//! The types and kinds that a template can see, by their names in Go.

use std::borrow::Cow;

use super::Value;

/// The type of a parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: any value, nil included.
    Any,
    /// `reflect.Value`: any value, and the difference between nil and no value.
    Reflect,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint32`.
    Uint32,
    /// `float64`.
    Float64,
    /// `string`.
    String,
    /// A slice.
    List(Elem),
    /// A map with `string` keys.
    Map(Elem),
    /// A value with this Go type, such as `time.Time`.
    Object(&'static str),
}

/// The type of the elements of lists and maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// `interface {}`.
    Any,
    /// `string`.
    String,
    /// `int`.
    Int,
    /// `uint8`: bytes.
    Byte,
    /// `[]uint8`: texts as bytes.
    Bytes,
    /// `[]interface {}`.
    List,
    /// `map[string]interface {}`.
    Map,
    /// `interface {}` in a map with the named type `chartutil.Values`.
    Values,
    /// `string` in a list with the named type `chartutil.VersionSet`.
    Versions,
}

impl Elem {
    fn name(self) -> &'static str {
        match self {
            Self::Any | Self::Values => "interface {}",
            Self::String | Self::Versions => "string",
            Self::Int => "int",
            Self::Byte => "uint8",
            Self::Bytes => "[]uint8",
            Self::List => "[]interface {}",
            Self::Map => "map[string]interface {}",
        }
    }

    /// Returns the zero value of the type.
    pub(crate) fn zero(self) -> Value {
        match self {
            Self::Any | Self::Values => Value::Nil,
            Self::String | Self::Versions => Value::string(""),
            Self::Int => Value::Int(0),
            Self::Byte => Value::Uint8(0),
            Self::Bytes => Value::List(super::List::nil(Self::Byte)),
            Self::List => Value::List(super::List::nil(Self::Any)),
            Self::Map => Value::Map(super::Map::nil()),
        }
    }

    /// The name of a list with elements of this type.
    pub(crate) fn list_name(self) -> String {
        if self == Self::Versions { "chartutil.VersionSet".to_owned() } else { format!("[]{}", self.name()) }
    }

    /// The name of a map with elements of this type.
    pub(crate) fn map_name(self) -> String {
        if self == Self::Values {
            "chartutil.Values".to_owned()
        } else {
            format!("map[string]{}", self.name())
        }
    }
}

impl Type {
    /// The name in Go.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Any => "interface {}".into(),
            Self::Reflect => "reflect.Value".into(),
            Self::Bool => "bool".into(),
            Self::Int => "int".into(),
            Self::Uint32 => "uint32".into(),
            Self::Float64 => "float64".into(),
            Self::String => "string".into(),
            Self::List(elem) => elem.list_name().into(),
            Self::Map(elem) => elem.map_name().into(),
            Self::Object(name) => name.into(),
        }
    }

    /// True if nil can be assigned to the type.
    pub(crate) fn can_be_nil(self) -> bool {
        match self {
            Self::Any | Self::Reflect | Self::List(_) | Self::Map(_) => true,
            Self::Object(name) => name.starts_with('*'),
            _ => false,
        }
    }

    /// Returns the nil of the type.
    pub(crate) fn nil(self) -> Value {
        match self {
            Self::Reflect => Value::Missing,
            Self::List(elem) => Value::List(super::List::nil(elem)),
            Self::Map(_) => Value::Map(super::Map::nil()),
            _ => Value::Nil,
        }
    }

    /// True if a value can be passed for a parameter of the type.
    pub(crate) fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any | Self::Reflect, _)
            | (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Int(_))
            | (Self::Float64, Value::Float(_))
            | (Self::String, Value::String(_)) => true,
            (Self::List(elem), Value::List(list)) => {
                list.elem() == elem || (elem == Elem::String && list.elem() == Elem::Versions)
            }
            (Self::Map(elem), Value::Map(map)) => {
                map.elem() == elem || (elem == Elem::Any && map.elem() == Elem::Values)
            }
            (Self::Object(name), Value::Object(object)) => object.type_name() == name,
            _ => false,
        }
    }
}

/// The kinds of Go's `reflect` package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Invalid,
    Bool,
    Int,
    Int64,
    Uint8,
    Uint64,
    Float64,
    String,
    Slice,
    Map,
    Struct,
    Ptr,
}

impl Kind {
    /// The name in Go.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Int64 => "int64",
            Self::Uint8 => "uint8",
            Self::Uint64 => "uint64",
            Self::Float64 => "float64",
            Self::String => "string",
            Self::Slice => "slice",
            Self::Map => "map",
            Self::Struct => "struct",
            Self::Ptr => "ptr",
        }
    }
}

impl Value {
    /// The name of the type in Go: `interface {}` for nil.
    pub fn type_name(&self) -> Cow<'_, str> {
        match self {
            Self::Missing | Self::Nil => "interface {}".into(),
            Self::Bool(_) => "bool".into(),
            Self::Int(_) => "int".into(),
            Self::Int64(_) => "int64".into(),
            Self::Uint8(_) => "uint8".into(),
            Self::Uint64(_) => "uint64".into(),
            Self::Float(_) => "float64".into(),
            Self::String(_) => "string".into(),
            Self::List(list) => list.elem().list_name().into(),
            Self::Map(map) => map.elem().map_name().into(),
            Self::Object(object) => object.type_name().into(),
        }
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Missing | Self::Nil => Kind::Invalid,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Int64(_) => Kind::Int64,
            Self::Uint8(_) => Kind::Uint8,
            Self::Uint64(_) => Kind::Uint64,
            Self::Float(_) => Kind::Float64,
            Self::String(_) => Kind::String,
            Self::List(_) => Kind::Slice,
            Self::Map(_) => Kind::Map,
            Self::Object(object) => object.kind(),
        }
    }
}
