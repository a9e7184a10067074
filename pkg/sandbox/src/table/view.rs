//! An object as the printers read it: what is missing reads as empty, as in the Go types of the real server.

use serde_json::Value;

use super::age;

/// An object, and the time (seconds since 1970) ages are counted from. Paths are JSON pointers.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) object: &'a Value,
    pub(super) now: i64,
}

/// What stands where there is nothing.
pub(super) const NONE: &str = "<none>";
/// What stands for a choice that was not made.
pub(super) const UNSET: &str = "<unset>";
/// What stands for what is not known.
pub(super) const UNKNOWN: &str = "<unknown>";

impl<'a> View<'a> {
    pub(super) fn get(self, path: &str) -> Option<&'a Value> {
        self.object.pointer(path).filter(|value| !value.is_null())
    }

    /// Text, empty when there is none.
    pub(super) fn str(self, path: &str) -> &'a str {
        self.get(path).and_then(Value::as_str).unwrap_or_default()
    }

    /// Text, or else this.
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

    /// The items of a list, of the fields of an object none.
    pub(super) fn items(self, path: &str) -> impl DoubleEndedIterator<Item = View<'a>> + use<'a> {
        let items = self.get(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().map(move |object| View { object, ..self })
    }

    /// How many items a list, or fields an object has.
    pub(super) fn count(self, path: &str) -> usize {
        match self.get(path) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(fields)) => fields.len(),
            _ => 0,
        }
    }

    /// The texts of a list.
    pub(super) fn strings(self, path: &str) -> Vec<&'a str> {
        self.items(path).map(|item| item.str("")).collect()
    }

    pub(super) fn annotation(self, key: &str) -> Option<&'a str> {
        self.get("/metadata/annotations")?.get(key)?.as_str()
    }

    /// The status of a condition: `True`, `False`, `Unknown`; empty when there is no such condition.
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
        age::since(self.str(path), self.now)
    }

    /// A scalar as text: for what may be a number or text.
    pub(super) fn scalar(self, path: &str) -> Option<String> {
        match self.get(path)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}
