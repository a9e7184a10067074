//! Faults of fields as they are found: where, what was there, what is expected.

use std::fmt;

use serde_json::Value;

use crate::status::{FieldError, FieldErrorKind};

/// Where a field is. Cheap to extend: it is printed only when something is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    /// A field of the object itself.
    Root(&'a str),
    /// A field of something.
    Field(&'a Path<'a>, &'a str),
    /// An item of a list.
    Index(&'a Path<'a>, usize),
    /// A value of a map.
    Key(&'a Path<'a>, &'a str),
}

pub(super) const SPEC: Path<'static> = Path::Root("spec");

impl Path<'_> {
    /// A field below, or several with dots between them.
    pub(super) fn field<'a>(&'a self, name: &'a str) -> Path<'a> {
        Path::Field(self, name)
    }

    /// An item of this list.
    pub(super) fn index(&self, index: usize) -> Path<'_> {
        Path::Index(self, index)
    }

    /// A value of this map.
    pub(super) fn key<'a>(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root(name) => f.write_str(name),
            Path::Field(outer, name) => write!(f, "{outer}.{name}"),
            Path::Index(outer, index) => write!(f, "{outer}[{index}]"),
            Path::Key(outer, key) => write!(f, "{outer}[{key}]"),
        }
    }
}

/// What was found so far, in the order the real server reports it.
#[derive(Debug, Default)]
pub(super) struct Faults {
    found: Vec<FieldError>,
}

impl Faults {
    /// All of it.
    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.found
    }

    fn add(&mut self, kind: FieldErrorKind, path: &Path<'_>, value: Value, detail: impl Into<String>) {
        self.found.push(FieldError { kind, path: path.to_string(), value, detail: detail.into() });
    }

    /// The field must be there.
    pub(super) fn required(&mut self, path: &Path<'_>, detail: &str) {
        self.add(FieldErrorKind::Required, path, Value::Null, detail);
    }

    /// The value is wrong.
    pub(super) fn invalid(&mut self, path: &Path<'_>, value: impl Into<Value>, detail: impl Into<String>) {
        self.add(FieldErrorKind::Invalid, path, value.into(), detail);
    }

    /// The field may not be there, or may not have changed.
    pub(super) fn forbidden(&mut self, path: &Path<'_>, detail: impl Into<String>) {
        self.add(FieldErrorKind::Forbidden, path, Value::Null, detail);
    }

    /// The value is not one of those supported, which are printed as they are listed.
    pub(super) fn unsupported(&mut self, path: &Path<'_>, value: impl Into<Value>, supported: &[&str]) {
        let quoted: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        self.add(FieldErrorKind::NotSupported, path, value.into(), detail);
    }

    /// The value is there twice.
    pub(super) fn duplicate(&mut self, path: &Path<'_>, value: impl Into<Value>) {
        self.add(FieldErrorKind::Duplicate, path, value.into(), "");
    }

    /// The value names something that is not there.
    pub(super) fn not_found(&mut self, path: &Path<'_>, value: impl Into<Value>) {
        self.add(FieldErrorKind::NotFound, path, value.into(), "");
    }

    /// The value has more bytes than it may.
    pub(super) fn too_long(&mut self, path: &Path<'_>, most_bytes: usize) {
        let plural = if most_bytes == 1 { "" } else { "s" };
        let detail = format!("may not be more than {most_bytes} byte{plural}");
        self.add(FieldErrorKind::TooLong, path, Value::Null, detail);
    }

    /// A text must be one of a few.
    pub(super) fn one_of(&mut self, path: &Path<'_>, value: &Value, supported: &[&str]) {
        match value.as_str() {
            Some(text) if supported.contains(&text) => {}
            text => self.unsupported(path, text.unwrap_or_default(), supported),
        }
    }

    /// A field that was set may not change any more.
    pub(super) fn immutable(&mut self, path: &Path<'_>, old: &Value, new: &Value) {
        if old != new {
            self.invalid(path, new.clone(), "field is immutable");
        }
    }

    /// A number, if it is there, may not be negative.
    pub(super) fn not_negative(&mut self, path: &Path<'_>, value: &Value) {
        if let Some(number) = value.as_i64().filter(|number| *number < 0) {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    /// How much was found so far.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Everything a text format has to say about a value.
    pub(super) fn format(&mut self, path: &Path<'_>, value: &str, problems: Vec<String>) {
        for problem in problems {
            self.invalid(path, value, problem);
        }
    }
}

/// The items of a list with their places; nothing when it is none.
pub(super) fn items(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

/// The entries of a map, sorted; nothing when it is none.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// A text, or the empty one.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
