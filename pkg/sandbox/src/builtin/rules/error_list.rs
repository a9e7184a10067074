//! Collection of validation errors: path, value and expectation of each invalid field.

use std::fmt;

use serde_json::Value;

use crate::status::{FieldError, FieldErrorKind};

/// The path of a field. A path is cheap to extend, because it is printed only for errors.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldPath<'a> {
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

/// The errors found so far, in the order of the real server.
#[derive(Debug, Default)]
pub(super) struct ErrorList {
    errors: Vec<FieldError>,
}

impl ErrorList {
    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    fn add(&mut self, kind: FieldErrorKind, path: &FieldPath<'_>, value: Value, detail: impl Into<String>) {
        self.errors.push(FieldError { kind, path: path.to_string(), value, detail: detail.into() });
    }

    /// Reports a missing required field.
    pub(super) fn required(&mut self, path: &FieldPath<'_>, detail: &str) {
        self.add(FieldErrorKind::Required, path, Value::Null, detail);
    }

    /// Reports an invalid value.
    pub(super) fn invalid(
        &mut self,
        path: &FieldPath<'_>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        self.add(FieldErrorKind::Invalid, path, value.into(), detail);
    }

    /// Reports a field that must be absent or unchanged.
    pub(super) fn forbidden(&mut self, path: &FieldPath<'_>, detail: impl Into<String>) {
        self.add(FieldErrorKind::Forbidden, path, Value::Null, detail);
    }

    /// Reports an unsupported value. The message lists the supported values in the given order.
    pub(super) fn unsupported(&mut self, path: &FieldPath<'_>, value: impl Into<Value>, supported: &[&str]) {
        let quoted: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        self.add(FieldErrorKind::NotSupported, path, value.into(), detail);
    }

    /// Reports a duplicate value.
    pub(super) fn duplicate(&mut self, path: &FieldPath<'_>, value: impl Into<Value>) {
        self.add(FieldErrorKind::Duplicate, path, value.into(), "");
    }

    /// Reports a reference to a missing item.
    pub(super) fn not_found(&mut self, path: &FieldPath<'_>, value: impl Into<Value>) {
        self.add(FieldErrorKind::NotFound, path, value.into(), "");
    }

    /// Reports a value that exceeds the maximum size.
    pub(super) fn too_long(&mut self, path: &FieldPath<'_>, max_bytes: usize) {
        let plural = if max_bytes == 1 { "" } else { "s" };
        let detail = format!("may not be more than {max_bytes} byte{plural}");
        self.add(FieldErrorKind::TooLong, path, Value::Null, detail);
    }

    /// Reports a text that is not in the list of supported values.
    pub(super) fn one_of(&mut self, path: &FieldPath<'_>, value: &Value, supported: &[&str]) {
        match value.as_str() {
            Some(text) if supported.contains(&text) => {}
            text => self.unsupported(path, text.unwrap_or_default(), supported),
        }
    }

    /// Reports a changed immutable field.
    pub(super) fn immutable(&mut self, path: &FieldPath<'_>, old: &Value, new: &Value) {
        if old != new {
            self.invalid(path, new.clone(), "field is immutable");
        }
    }

    /// Reports a negative number.
    pub(super) fn non_negative(&mut self, path: &FieldPath<'_>, value: &Value) {
        if let Some(number) = value.as_i64().filter(|number| *number < 0) {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    /// The number of errors found so far.
    pub(super) fn count(&self) -> usize {
        self.errors.len()
    }

    /// Reports every problem that a format check found.
    pub(super) fn format(&mut self, path: &FieldPath<'_>, value: &str, problems: Vec<String>) {
        for problem in problems {
            self.invalid(path, value, problem);
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
