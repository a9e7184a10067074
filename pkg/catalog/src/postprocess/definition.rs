//! The definition of a filter, and the problems of invalid ones.

use std::path::Path;

use serde_json::{Map, Value};

use super::builtin::HELM_NAMESPACE;
use crate::reclass::{KeyOrder, Ordered};

/// The keys that every definition has.
const REQUIRED: [&str; 3] = ["type", "path", "filter"];

/// The kind of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterType {
    Builtin,
    Jsonnet,
}

/// A filter.
#[derive(Clone, Debug)]
pub(super) struct Filter<'a> {
    pub(super) kind: FilterType,
    pub(super) name: &'a str,
    pub(super) path: &'a str,
    pub(super) arguments: Map<String, Value>,
    pub(super) enabled: bool,
}

/// The folders against which a definition is checked.
#[derive(Clone, Copy)]
pub(super) struct FilterFolders<'a> {
    pub(super) compiled: &'a Path,
    pub(super) component: &'a Path,
}

impl<'a> Filter<'a> {
    /// Reads a definition. The error is the reason in the words of the original.
    pub(super) fn read(definition: &'a Value, folders: FilterFolders<'_>) -> Result<Self, String> {
        let missing: Vec<_> = REQUIRED.iter().filter(|key| definition.get(**key).is_none()).collect();
        if !missing.is_empty() {
            let keys: Vec<_> = missing.iter().map(|key| format!("'{key}'")).collect();
            return Err(format!("\"Filter is missing required key(s) {{{}}}\"", keys.join(", ")));
        }
        let enabled = match definition.get("enabled") {
            None => true,
            Some(Value::Bool(enabled)) => *enabled,
            Some(_) => return Err("Filter key 'enabled' is not a boolean".to_owned()),
        };
        let text = |key: &str| definition[key].as_str().ok_or(format!("Filter key '{key}' is not a string"));
        let (name, path) = (text("filter")?, text("path")?);
        let filter_type = match definition["type"].as_str() {
            Some("builtin") => FilterType::Builtin,
            Some("jsonnet") => FilterType::Jsonnet,
            _ => return Err(format!("Filter has unknown type {}", shown(&definition["type"]))),
        };
        check(filter_type, name, path, definition, folders)?;
        let arguments = match definition.get("filterargs") {
            Some(Value::Object(arguments)) => arguments.clone(),
            _ => Map::new(),
        };
        Ok(Self { kind: filter_type, name, path, arguments, enabled })
    }
}

fn check(
    filter_type: FilterType,
    name: &str,
    path: &str,
    definition: &Value,
    folders: FilterFolders<'_>,
) -> Result<(), String> {
    match filter_type {
        FilterType::Builtin if name != HELM_NAMESPACE => Err(format!("Unknown builtin filter: {name}")),
        FilterType::Builtin if definition.get("filterargs").is_none() => {
            Err("\"Builtin filter is missing required key 'filterargs'\"".to_owned())
        }
        FilterType::Builtin if !folders.compiled.join(path).exists() => {
            Err("Builtin filter called on path which doesn't exist".to_owned())
        }
        FilterType::Jsonnet if !folders.component.join(name).is_file() => {
            Err("Jsonnet filter definition does not exist".to_owned())
        }
        _ => Ok(()),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| python_text(value, &KeyOrder::None), str::to_owned)
}

/// Returns a definition as Python prints it.
pub(super) fn python_text(value: &Value, order: &KeyOrder) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.contains('\'') && !text.contains('"') => format!("\"{text}\""),
        Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Value::Array(items) => {
            let items = items.iter().enumerate().map(|(index, item)| python_text(item, order.item(index)));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field = |(key, field): (&str, Ordered<'_>)| {
                format!("'{key}': {}", python_text(field.value, field.order))
            };
            format!("{{{}}}", order.fields(fields).into_iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}
