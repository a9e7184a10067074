//! Values as a template sees them, with the types that Go tells apart.
//!
//! ```text
//! serde_json::Value ─► Value ─► output, arguments of functions
//!                       ├ String: bytes, as in Go
//!                       ├ List: shared, immutable
//!                       ├ Map: shared, mutable, sorted
//!                       └ Object: methods and fields of the host
//! ```

mod collection;
mod depth;
mod json;
mod object;
mod record;
mod signature;
mod text;
mod types;

pub use collection::{List, Map, MapId};
pub use depth::TooDeep;
pub(crate) use depth::{NESTING, TEXT_BYTES};
pub use object::{Object, Shared};
pub use record::Record;
pub use signature::Signature;
pub use text::Str;
pub use types::{Elem, Kind, Type};

/// A value. Cloning is cheap: strings, lists, maps and objects are shared.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// The absence of a value, printed as `<no value>`.
    #[default]
    Missing,
    /// A nil of type `interface {}`, such as a field without a value.
    Nil,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// An `int64`.
    Int64(i64),
    /// A `uint8`.
    Uint8(u8),
    /// A `uint64`.
    Uint64(u64),
    /// A `float64`.
    Float(f64),
    /// A `string`.
    String(Str),
    /// A slice.
    List(List),
    /// A map with `string` keys.
    Map(Map),
    /// A value of the host, or of a function such as `now`.
    Object(Shared),
}

impl Value {
    /// Creates a string.
    pub fn string(text: impl Into<Str>) -> Self {
        Self::String(text.into())
    }

    /// Creates a `[]interface {}`.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::new(Elem::Any, items))
    }

    /// Creates a `[]string`.
    pub fn strings<T: Into<Str>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(List::new(Elem::String, items.into_iter().map(Self::string).collect()))
    }

    /// Creates a `map[string]interface {}`.
    pub fn map<K: Into<Str>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(entries.into_iter().collect())
    }

    /// True for a nil interface and for a missing value, which most functions treat alike.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Missing | Self::Nil)
    }

    /// Returns the value, with nil for a missing value: what a parameter of type `interface {}` receives.
    pub(crate) fn or_nil(self) -> Self {
        if matches!(self, Self::Missing) { Self::Nil } else { self }
    }

    /// Returns the truth of a value in `if`, `with`, `and`, `or` and `not`.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Missing | Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) | Self::Int64(value) => *value != 0,
            Self::Uint8(value) => *value != 0,
            Self::Uint64(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::String(value) => !value.is_empty(),
            Self::List(value) => !value.is_empty(),
            Self::Map(value) => !value.is_empty(),
            Self::Object(value) => value.entries().is_none_or(|entries| !entries.is_empty()),
        }
    }

    /// Compares two values as Go's `reflect.DeepEqual` does: types count.
    pub fn deep_equal(&self, other: &Self) -> Result<bool, TooDeep> {
        depth::deep_equal(self, other, &mut depth::Walk::new())
    }

    /// Copies a value with all its maps, which are then independent.
    pub fn deep_copy(&self) -> Result<Self, TooDeep> {
        depth::deep_copy(self, &mut depth::Walk::new())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::string(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::string(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::string(value)
    }
}
