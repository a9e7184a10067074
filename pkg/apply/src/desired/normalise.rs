//! The required shape of an object, and its normal form.

use base64::{Engine, engine::general_purpose::STANDARD};
use manifest::{Map, Object, Value, type_name};

/// Metadata that only servers write.
const SERVER_FIELDS: &[&str] = &[
    "resourceVersion",
    "generation",
    "managedFields",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// Returns the problems of the fields that every object has.
pub(super) fn shape_problems(object: &Object) -> Vec<String> {
    let mut problems = Vec::new();
    let is_named = object.get(&["metadata", "generateName"]).is_none_or(is_empty_value);
    if !is_named {
        problems.push("has `metadata.generateName`; use `metadata.name` instead".to_owned());
    }
    for (field, text) in
        [("apiVersion", object.api_version()), ("kind", object.kind()), ("metadata.name", object.name())]
    {
        if text.is_empty() && (is_named || field != "metadata.name") {
            problems.push(format!("has no `{field}`"));
        }
    }
    for field in ["labels", "annotations"] {
        problems.extend(string_map_problems(object, field));
    }
    problems
}

fn string_map_problems(object: &Object, field: &str) -> Vec<String> {
    match object.get(&["metadata", field]) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(pairs)) => {
            let wrong = pairs.iter().filter(|(_, value)| !value.is_string());
            wrong
                .map(|(key, value)| format!("`metadata.{field}.{key}` is {}, not a string", type_name(value)))
                .collect()
        }
        Some(other) => vec![format!("`metadata.{field}` is {}, not a mapping", type_name(other))],
    }
}

/// Brings an object into its normal form for comparisons and writes. Returns the problems that prevent this.
pub(super) fn normalise(object: &mut Object, reserved: &[String]) -> Vec<String> {
    if object.get(&["status"]).is_some() {
        object.as_map_mut().remove("status");
    }
    let problems =
        if (object.group(), object.kind()) == ("", "Secret") { fold_string_data(object) } else { Vec::new() };
    for field in SERVER_FIELDS {
        remove(object, &["metadata"], field);
    }
    for field in ["labels", "annotations"] {
        for key in reserved {
            remove(object, &["metadata", field], key);
        }
        // Empty maps are removed, so that formerly marked objects equal objects that were never marked.
        if object.get(&["metadata", field]).is_some_and(is_empty_value) {
            remove(object, &["metadata"], field);
        }
    }
    problems
}

/// Moves `stringData` of a Secret into `data`, overwriting existing keys: server-side apply does not support write-only
/// fields. Problems are reported without values.
fn fold_string_data(object: &mut Object) -> Vec<String> {
    if object.get(&["stringData"]).is_none() {
        return Vec::new();
    }
    let fields = object.as_map_mut();
    let plain = match fields.remove("stringData") {
        Some(Value::Object(plain)) => plain,
        None | Some(Value::Null) => return Vec::new(),
        Some(other) => return vec![format!("`stringData` is {}, not a mapping", type_name(&other))],
    };
    let data = fields.entry("data").or_insert(Value::Null);
    if data.is_null() {
        *data = Value::Object(Map::new());
    }
    let Value::Object(data) = data else {
        return vec![format!("`data` is {}, not a mapping", type_name(data))];
    };
    let mut problems = Vec::new();
    for (key, value) in plain {
        match value {
            Value::String(text) => {
                data.insert(key, STANDARD.encode(text).into());
            }
            other => problems.push(format!("`stringData.{key}` is {}, not a string", type_name(&other))),
        }
    }
    problems
}

fn remove(object: &mut Object, path: &[&str], key: &str) {
    // The check comes first, so that an unchanged object is not copied.
    if object.get(path).is_some_and(|at| at.get(key).is_some())
        && let Some(Value::Object(fields)) = object.get_mut(path)
    {
        fields.remove(key);
    }
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
