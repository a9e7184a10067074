//! Detection of duplicates in lists of type `set` or `map`.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/listtype`.

use serde_json::{Map, Value};

use super::path::{WalkPath, visit_values};
use crate::{
    schema::{ListType, Schema},
    status::{FieldError, FieldErrorKind},
};

/// Returns an error for each duplicate in the set and map lists of a value.
pub(super) fn duplicates(schema: Schema<'_>, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit_values(schema, value, &mut WalkPath::default(), &mut |schema, value, path| {
        if let Value::Array(items) = value {
            check(schema, items, path, &mut errors);
        }
    });
    errors
}

fn check(schema: Schema<'_>, items: &[Value], path: &mut WalkPath, errors: &mut Vec<FieldError>) {
    match &schema.node().list_type {
        ListType::Atomic => {}
        ListType::Set => report(items, path, errors),
        ListType::Map(keys) => {
            if let Some(index) = non_object_index(items) {
                path.with_index(index, |path| {
                    let detail = "must be an object for an array of list-type map";
                    errors.push(FieldError::invalid(path.text(), items[index].clone(), detail));
                });
            } else {
                let keys: Vec<_> = items.iter().map(|item| key_of(item, keys)).collect();
                report(&keys, path, errors);
            }
        }
    }
}

fn non_object_index(items: &[Value]) -> Option<usize> {
    items.iter().position(|item| !item.is_object() && !item.is_null())
}

fn key_of(item: &Value, keys: &[std::sync::Arc<str>]) -> Value {
    let value_of = |key: &std::sync::Arc<str>| Some((key.to_string(), item.get(&**key)?.clone()));
    Value::Object(keys.iter().filter_map(value_of).collect::<Map<_, _>>())
}

/// Reports each repeated value once.
fn report(values: &[Value], path: &mut WalkPath, errors: &mut Vec<FieldError>) {
    let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for (index, value) in values.iter().enumerate() {
        let times = seen.entry(value.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            path.with_index(index, |path| {
                errors.push(FieldError::new(FieldErrorKind::Duplicate, path.text(), value.clone(), ""));
            });
        }
    }
}
