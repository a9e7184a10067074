//! The files of an input: a value in a format, with its references replaced.

use std::path::Path;

use serde_json::Value;

use super::error::InputError;
use super::prune::prune;
use super::settings::OutputType;
use super::toml;
use crate::json::{self, JsonStyle};
use crate::references::References;
use crate::results::Reads;
use crate::yaml::{YamlStyle, is_empty, write_document, write_documents};

/// The choices for the files of an input.
#[derive(Clone, Copy)]
pub(super) struct FileFormat<'a> {
    pub(super) output_type: OutputType,
    /// The format of a file whose extension is unknown.
    pub(super) default_type: OutputType,
    pub(super) prune: bool,
    pub(super) references: &'a References,
    pub(super) reads: &'a Reads,
}

impl FileFormat<'_> {
    /// Returns the name and the content of a file. `name` may have slashes, and has no extension.
    pub(super) fn file(self, name: &str, value: Value) -> Result<(String, String), InputError> {
        let value = if self.prune { prune(value).unwrap_or(Value::Null) } else { value };
        let (output_type, extension) = self.type_of(name);
        let value = self.references.replace_in(value, self.reads)?;
        let text = content(name, &value, output_type)?;
        let name = extension.map_or_else(|| name.to_owned(), |extension| format!("{name}.{extension}"));
        Ok((name, text))
    }

    /// Returns the format of a file, and the additional extension of its name.
    fn type_of(self, name: &str) -> (OutputType, Option<&'static str>) {
        if self.output_type != OutputType::Auto {
            return (self.output_type, self.output_type.extension());
        }
        match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => (OutputType::Yaml, None),
            Some("json") => (OutputType::Json, None),
            Some("toml") => (OutputType::Toml, None),
            _ => (self.default_type, self.default_type.extension()),
        }
    }
}

fn content(name: &str, value: &Value, output_type: OutputType) -> Result<String, InputError> {
    match (output_type, value) {
        (OutputType::Plain, Value::String(text)) => Ok(text.clone()),
        (OutputType::Plain, _) => Err(InputError::Format {
            path: name.to_owned(),
            format: "plain text",
            reason: "the value is not a string".to_owned(),
        }),
        _ if is_empty(value) => Ok(String::new()),
        (OutputType::Json, _) => Ok(json::write(value, JsonStyle::COMPILED)),
        (OutputType::Toml, Value::Object(fields)) => Ok(toml::write(fields)),
        (OutputType::Toml, _) => Err(InputError::Format {
            path: name.to_owned(),
            format: "TOML",
            reason: "the value is not a mapping".to_owned(),
        }),
        _ => yaml(value),
    }
}

/// Prints a list as several documents, as is a text with each of its characters.
fn yaml(value: &Value) -> Result<String, InputError> {
    match value {
        Value::Object(_) | Value::Null => Ok(write_document(value, YamlStyle::CATALOG)),
        Value::Array(documents) => Ok(write_documents(documents, YamlStyle::CATALOG)),
        Value::String(text) => {
            let characters: Vec<_> =
                text.chars().map(|character| Value::from(character.to_string())).collect();
            Ok(write_documents(&characters, YamlStyle::CATALOG))
        }
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() != 0.0) => {
            Err(InputError::NotDocuments { kind: "float" })
        }
        Value::Number(_) => Err(InputError::NotDocuments { kind: "int" }),
        Value::Bool(_) => Err(InputError::NotDocuments { kind: "bool" }),
    }
}
