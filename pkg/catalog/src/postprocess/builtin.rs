//! The builtin filter `helm_namespace`: objects of a chart in the namespace of the component.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::definition::Filter;
use super::error::PostprocessError;
use crate::compile::{file_names, read_text};
use crate::yaml::read_documents;

/// The name of the filter.
pub(super) const HELM_NAMESPACE: &str = "helm_namespace";

/// Sets the namespace of all objects in the files of a folder. Returns the files without extension.
pub(super) fn helm_namespace(
    filter: &Filter<'_>,
    folder: &Path,
) -> Result<Map<String, Value>, PostprocessError> {
    let argument = |argument| filter.arguments.get(argument);
    let namespace = argument("namespace").ok_or_else(|| PostprocessError::MissingArgument {
        filter: filter.name.to_owned(),
        argument: "namespace",
    })?;
    let namespace = namespace.as_str().ok_or_else(|| PostprocessError::NotText {
        filter: filter.name.to_owned(),
        argument: "namespace".to_owned(),
    })?;
    let excluded = argument("exclude_objects").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut files = Map::new();
    for name in file_names(folder).map_err(|reason| unreadable(folder, reason))? {
        let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem).to_owned();
        files.insert(stem, Value::Array(objects(&folder.join(&name), namespace, excluded)?));
    }
    let creates = argument("create_namespace");
    if creates.is_some_and(|flag| flag.as_bool() == Some(true) || flag.as_str() == Some("true")) {
        files.insert("00_namespace".to_owned(), namespace_object(namespace));
    }
    Ok(files)
}

fn unreadable(path: &Path, reason: String) -> PostprocessError {
    PostprocessError::Io { verb: "read", path: path.to_owned(), error: std::io::Error::other(reason) }
}

fn namespace_object(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"annotations": {}, "labels": {"name": name.replace(':', "-")}, "name": name},
    })
}

/// Returns the objects of a file in the namespace, without null documents.
fn objects(path: &Path, namespace: &str, excluded: &[Value]) -> Result<Vec<Value>, PostprocessError> {
    let text = read_text(path).map_err(|reason| unreadable(path, reason))?;
    let documents =
        read_documents(&text).map_err(|error| PostprocessError::Yaml { path: path.to_owned(), error })?;
    let mut objects = Vec::new();
    for mut document in documents.into_iter().filter(|document| !document.is_null()) {
        if !is_excluded(&document, excluded, path)? {
            let object = document.as_object_mut();
            let object = object.ok_or_else(|| PostprocessError::NotObject { path: path.to_owned() })?;
            let metadata = object.entry("metadata").or_insert_with(|| json!({}));
            match metadata {
                Value::Object(metadata) => {
                    metadata.insert("namespace".to_owned(), Value::from(namespace));
                }
                other => *other = json!({"namespace": namespace}),
            }
        }
        objects.push(document);
    }
    Ok(objects)
}

fn is_excluded(object: &Value, excluded: &[Value], path: &Path) -> Result<bool, PostprocessError> {
    let missing = |field| PostprocessError::MissingField { path: path.to_owned(), field };
    let mut found = false;
    for entry in excluded {
        let kind = entry.get("kind").ok_or_else(|| missing("kind"))?;
        if kind == object.get("kind").ok_or_else(|| missing("kind"))? {
            let name = entry.get("name").ok_or_else(|| missing("name"))?;
            let own = object.pointer("/metadata/name").ok_or_else(|| missing("name"))?;
            found |= name == own;
        }
    }
    Ok(found)
}
