//! Values of templates.

use serde_json::{Map, Value};

use crate::merge;

/// Returns values merged over defaults.
pub(super) fn merged(defaults: &Map<String, Value>, values: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = defaults.clone();
    merge(&mut merged, values.clone());
    merged
}

/// Returns the value at a path of names with dots between them.
pub(super) fn at<'v>(values: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let mut names = path.split('.');
    let first = values.get(names.next()?)?;
    names.try_fold(first, |value, name| value.as_object()?.get(name))
}

/// Sets the value at a path; an empty path or `.` is the root. Returns false if a value on the path is no table.
pub(super) fn set(values: &mut Map<String, Value>, path: &str, key: &str, value: Value) -> bool {
    let mut table = values;
    for name in path.split('.').filter(|name| !name.is_empty()) {
        let entry = table.entry(name).or_insert_with(|| Value::Object(Map::new()));
        match entry {
            Value::Object(inner) => table = inner,
            _ => return false,
        }
    }
    table.insert(key.to_owned(), value);
    true
}
