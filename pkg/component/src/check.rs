//! Checks of Components before they reach a cluster, by the schema of the CustomResourceDefinition.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use api::{check_dns_label, check_dns_subdomain};
use manifest::{Map, Object, Value, type_name};
use regex::Regex;
use serde::Deserialize as _;

use crate::{API_VERSION, Component, KIND, definition::SCHEMA, spec::EXACTLY_ONE_MESSAGE};

/// A Component that fits its schema.
#[derive(Clone, Debug)]
pub struct CheckedComponent {
    /// The typed Component.
    pub component: Component,
    /// The object without unknown fields and nulls, as an API server stores it.
    pub object: Object,
    /// Unknown fields, which an API server drops.
    pub unknown_fields: Vec<String>,
}

/// A field that a schema rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FieldProblem {
    /// The field, such as `spec.valuesFrom[0].name`.
    pub field: String,
    /// The problem in the words of kube-apiserver.
    pub problem: String,
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

/// Checks an object by the schema of Components, as an API server does, and reads it.
/// # Errors
/// All fields that do not fit. Rules about several fields are checked once all fields fit.
pub fn check_component(object: &Object) -> Result<CheckedComponent, Vec<FieldProblem>> {
    let problem = |field: &str, problem: String| FieldProblem { field: field.to_owned(), problem };
    let mut problems = check_metadata(object);
    for (field, found, expected) in
        [("apiVersion", object.api_version(), API_VERSION), ("kind", object.kind(), KIND)]
    {
        if found != expected {
            problems.push(problem(
                field,
                format!("Unsupported value: {found:?}: supported values: {expected:?}"),
            ));
        }
    }
    if object.get(&["metadata", "name"]).is_none_or(|name| name.is_null() || name == "") {
        problems.push(problem("metadata.name", "Required value".to_owned()));
    } else if !object.name().is_empty()
        && let Err(error) = check_dns_subdomain(object.name())
    {
        problems.push(problem("metadata.name", format!("Invalid value: {error}")));
    }
    if !object.namespace().is_empty()
        && let Err(error) = check_dns_label(object.namespace())
    {
        problems.push(problem("metadata.namespace", format!("Invalid value: {error}")));
    }
    let (mut value, mut unknown_fields) = (object.clone().into_value(), Vec::new());
    prune(&SCHEMA, &mut value, "", &mut unknown_fields);
    let before = problems.len();
    validate(&SCHEMA, &value, "", &mut problems);
    problems[before..].sort_by(|left, right| left.field.cmp(&right.field));
    // The only rule about several fields. Unknown fields are gone.
    let sources = value["spec"]["sourceRef"].as_object().map(Map::len);
    if problems.is_empty() && sources != Some(1) {
        problems.push(problem("spec.sourceRef", format!("Invalid value: {EXACTLY_ONE_MESSAGE}")));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let object = Object::try_from(value).unwrap_or_default();
    let component = Component::deserialize(object.clone().into_value())
        .map_err(|error| vec![problem("spec", format!("Invalid value: {error}"))])?;
    Ok(CheckedComponent { component, object, unknown_fields })
}

/// Checks that names, labels and annotations of an object are texts. YAML reads `2024` as a number and `no` as a boolean.
pub fn check_metadata(object: &Object) -> Vec<FieldProblem> {
    let metadata = |field: &str| object.get(&["metadata", field]);
    let names = ["name", "namespace", "generateName"].into_iter();
    let names = names.filter_map(|field| Some((field.to_owned(), metadata(field)?)));
    let maps =
        ["labels", "annotations"].into_iter().filter_map(|map| Some((map, metadata(map)?.as_object()?)));
    let entries =
        maps.flat_map(|(map, all)| all.iter().map(move |(key, value)| (format!("{map}.{key}"), value)));
    let wrong = names.chain(entries).filter(|(_, value)| !value.is_string() && !value.is_null());
    let problem = |(field, value): (String, &Value)| FieldProblem {
        field: format!("metadata.{field}"),
        problem: wrong_type(value, "string"),
    };
    wrong.map(problem).collect()
}

fn wrong_type(value: &Value, expected: &str) -> String {
    format!("Invalid value: {}: must be of type {expected}", type_name(value))
}

/// Drops unknown fields and nulls.
/// Source: kube-apiserver 1.36 (structural schemas: pruning, and nulls without a default).
fn prune(schema: &Value, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return;
    }
    match value {
        Value::Object(fields) => prune_fields(schema, fields, path, unknown),
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                prune(&schema["items"], item, &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

fn prune_fields(schema: &Value, fields: &mut Map<String, Value>, path: &str, unknown: &mut Vec<String>) {
    let (properties, additional) = (schema.get("properties"), schema.get("additionalProperties"));
    if properties.is_none() && additional.is_none() {
        return;
    }
    fields.retain(|name, value| {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if let Some(schema) = properties.and_then(|known| known.get(name)).or(additional) {
            prune(schema, value, &path, unknown);
            !value.is_null()
        } else {
            unknown.push(path);
            false
        }
    });
}

/// Adds the problems of a value: its type, choices, pattern, and missing fields. General validators first compile a schema
/// together with its own schema, which takes longer than all other work on a Component.
/// Source: kube-apiserver 1.36 (texts).
fn validate(schema: &Value, value: &Value, field: &str, problems: &mut Vec<FieldProblem>) {
    let mut add =
        |field: &str, problem: String| problems.push(FieldProblem { field: field.to_owned(), problem });
    if let Some(expected) = schema["type"].as_str().filter(|expected| !has_type(value, expected)) {
        return add(field, wrong_type(value, expected));
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.contains(value)) {
        let known = choices.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        add(field, format!("Unsupported value: {value}: supported values: {known}"));
    }
    if let (Some(expected), Some(text)) = (schema["pattern"].as_str(), value.as_str())
        && !matches(expected, text)
    {
        add(field, format!("Invalid value: {value}: must match '{expected}'"));
    }
    match value {
        Value::Object(fields) => {
            let path =
                |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in required.filter(|name| !fields.contains_key(*name)) {
                add(&path(name), "Required value".to_owned());
            }
            for (name, value) in fields {
                let known = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
                if let Some(schema) = known {
                    validate(schema, value, &path(name), problems);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                validate(&schema["items"], item, &format!("{field}[{at}]"), problems);
            }
        }
        _ => {}
    }
}

fn has_type(value: &Value, expected: &str) -> bool {
    match expected {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

/// True if a text matches a pattern of the schema.
fn matches(pattern: &str, text: &str) -> bool {
    static PATTERNS: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut patterns = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    if !patterns.contains_key(pattern) {
        let compiled = Regex::new(pattern).expect("invariant: the patterns of the schema are valid");
        patterns.insert(pattern.to_owned(), compiled);
    }
    patterns[pattern].is_match(text)
}

#[cfg(test)]
mod tests;
