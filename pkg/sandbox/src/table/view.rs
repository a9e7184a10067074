//! A view of an object for printers. Missing values read as empty, like in the real server's Go types.

use serde_json::Value;

use super::cells;

/// An object, and the reference time for ages (seconds since 1970). Paths are JSON pointers.
#[derive(Clone, Copy)]
pub(super) struct ObjectView<'a> {
    pub(super) object: &'a Value,
    pub(super) now: i64,
}

/// The text for a missing value.
pub(super) const NONE: &str = "<none>";
/// The text for an unset choice.
pub(super) const UNSET: &str = "<unset>";
/// The text for an unknown value.
pub(super) const UNKNOWN: &str = "<unknown>";

impl<'a> ObjectView<'a> {
    pub(super) fn get(self, path: &str) -> Option<&'a Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    /// Returns a string; empty if the value is missing.
    pub(super) fn str(self, path: &str) -> &'a str {
        self.get(path).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a string, or `missing` if it is empty.
    pub(super) fn str_or(self, path: &str, missing: &'a str) -> &'a str {
        let found = self.str(path);
        if found.is_empty() { missing } else { found }
    }

    pub(super) fn number(self, path: &str) -> i64 {
        self.get(path).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn flag(self, path: &str) -> bool {
        self.get(path).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the items of a list; empty for other values.
    pub(super) fn items(self, path: &str) -> impl DoubleEndedIterator<Item = ObjectView<'a>> + use<'a> {
        let items = self.get(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().map(move |object| ObjectView { object, ..self })
    }

    /// Returns the number of items of a list or fields of an object.
    pub(super) fn count(self, path: &str) -> usize {
        match self.get(path) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(fields)) => fields.len(),
            _ => 0,
        }
    }

    /// Returns the strings of a list.
    pub(super) fn strings(self, path: &str) -> Vec<&'a str> {
        self.items(path).map(|item| item.str("")).collect()
    }

    pub(super) fn annotation(self, key: &str) -> Option<&'a str> {
        self.get("/metadata/annotations")?.get(key)?.as_str()
    }

    /// Returns the status of a condition: `True`, `False`, `Unknown`; empty without the condition.
    pub(super) fn condition(self, kind: &str) -> &'a str {
        self.items("/status/conditions")
            .find(|condition| condition.str("/type") == kind)
            .map(|condition| condition.str("/status"))
            .unwrap_or_default()
    }

    pub(super) fn is_deleting(self) -> bool {
        self.get("/metadata/deletionTimestamp").is_some()
    }

    pub(super) fn since(self, path: &str) -> String {
        cells::since(self.str(path), self.now)
    }

    /// Returns a string or number as text.
    pub(super) fn scalar(self, path: &str) -> Option<String> {
        match self.get(path)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}
