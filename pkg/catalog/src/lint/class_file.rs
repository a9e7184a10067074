//! A file of a hierarchy, with the fields and lines of its texts.

use std::path::{Path, PathBuf};

use manifest::{Value, YamlLimits, yaml};

use super::files::MAX_FILE_BYTES;
use super::finding::{LintCode, LintFinding};
use crate::file_reading::read_text;

/// A YAML mapping in a file.
pub(super) struct ClassFile {
    pub(super) path: PathBuf,
    text: String,
    pub(super) content: Value,
}

impl ClassFile {
    /// Reads a file with the name of a class. None if it is large, no text or no YAML mapping.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let is_yaml = path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
        if is_yaml { Self::read_if(path, |_| true) } else { None }
    }

    /// Reads a file with any name if its text is wanted. None if it is large, no text or no YAML mapping.
    pub(super) fn read_if(path: &Path, is_wanted: impl FnOnce(&str) -> bool) -> Option<Self> {
        let text = read_text(path, MAX_FILE_BYTES).ok().filter(|text| is_wanted(text))?;
        let content = yaml::read_settings(&text, &YamlLimits::default()).ok()?;
        content.is_object().then(|| Self { path: path.to_owned(), text, content })
    }

    /// Returns the parameters, with their keys as written.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let parameters = self.content.get("parameters").and_then(Value::as_object);
        parameters.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the entries of `applications` that include a component or package.
    pub(super) fn applications(&self) -> impl Iterator<Item = &str> {
        let entries = self.content.get("applications").and_then(Value::as_array);
        entries.into_iter().flatten().filter_map(Value::as_str).filter(|entry| !entry.starts_with('~'))
    }

    /// Returns a finding about a field.
    pub(super) fn finding(&self, code: LintCode, field: &str, message: String) -> LintFinding {
        LintFinding { code, file: self.path.clone(), line: yaml::line_of(&self.text, field), message }
    }
}

/// Returns a key without the prefixes that decide how it is merged.
pub(super) fn plain_key(key: &str) -> &str {
    key.trim_start_matches(['~', '='])
}

/// Visits all texts in a value with their fields, such as `parameters.a[0].b`.
pub(super) fn visit_texts<'v>(value: &'v Value, field: &str, visit: &mut dyn FnMut(&str, &'v str)) {
    match value {
        Value::String(text) => visit(field, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit_texts(item, &format!("{field}[{index}]"), visit);
            }
        }
        Value::Object(fields) => {
            let dot = if field.is_empty() { "" } else { "." };
            for (key, value) in fields {
                visit_texts(value, &format!("{field}{dot}{key}"), visit);
            }
        }
        _ => {}
    }
}
