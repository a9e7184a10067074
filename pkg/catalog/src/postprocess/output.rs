//! The files that a filter writes.

use std::fs;
use std::path::{Component, Path};

use serde_json::{Map, Value};

use super::error::PostprocessError;
use crate::yaml::{YamlStyle, write_document, write_documents};

/// Writes a file for each field. A list becomes several documents.
pub(super) fn write_files(
    folder: &Path,
    files: &Map<String, Value>,
    notices: &mut Vec<String>,
) -> Result<(), PostprocessError> {
    for (name, value) in files {
        let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if !Path::new(name).components().all(inside) {
            return Err(PostprocessError::Outside { name: name.clone() });
        }
        let path = folder.join(format!("{name}.yaml"));
        if !path.exists() {
            notices.push(format!("   > {} doesn't exist, creating...", path.display()));
        }
        let text = match value {
            Value::Array(documents) => write_documents(documents, YamlStyle::CATALOG),
            other => write_document(other, YamlStyle::CATALOG),
        };
        if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
            continue;
        }
        let failed = |error| PostprocessError::Io { verb: "write", path: path.clone(), error };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, text).map_err(failed)?;
    }
    Ok(())
}
