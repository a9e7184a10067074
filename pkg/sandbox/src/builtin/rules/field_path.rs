//! Paths of fields, and readers of their values.

use std::fmt;

use serde_json::Value;

/// The path of a field. A path is cheap to extend, because it is printed only for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldPath<'a> {
    Root(&'a str),
    /// A field of the object at the outer path.
    Field(&'a FieldPath<'a>, &'a str),
    Index(&'a FieldPath<'a>, usize),
    /// A value of a map.
    Key(&'a FieldPath<'a>, &'a str),
}

pub(super) const SPEC: FieldPath<'static> = FieldPath::Root("spec");

impl FieldPath<'_> {
    /// Returns the path of a field below, or of several fields separated by dots.
    pub(super) fn field<'a>(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath::Field(self, name)
    }

    pub(super) fn index(&self, index: usize) -> FieldPath<'_> {
        FieldPath::Index(self, index)
    }

    /// Returns the path of a map value.
    pub(super) fn key<'a>(&'a self, key: &'a str) -> FieldPath<'a> {
        FieldPath::Key(self, key)
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldPath::Root(name) => f.write_str(name),
            FieldPath::Field(outer, name) => write!(f, "{outer}.{name}"),
            FieldPath::Index(outer, index) => write!(f, "{outer}[{index}]"),
            FieldPath::Key(outer, key) => write!(f, "{outer}[{key}]"),
        }
    }
}

/// The items of a list with their indices; empty if the value is not a list.
pub(super) fn items(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

/// The entries of a map, sorted by key; empty if the value is not a map.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// Returns the text of a value, or an empty text for other types.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
