//! The formats of files.

use crate::SopsError;
use crate::tree::{Branch, Entry, Secret, Value};
use crate::{dotenv, ini, json, yaml};

/// The format of a decrypted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Any bytes. The encrypted file is JSON with the field `data`.
    Binary,
    /// Lines such as `NAME=value`.
    Dotenv,
    /// Sections and `name = value`.
    Ini,
    /// One JSON object.
    Json,
    /// One or several YAML documents.
    Yaml,
}

impl Format {
    /// Returns the format of a file name: `.yaml`, `.yml`, `.json`, `.env`, `.ini`, or else binary.
    pub fn of(file_name: &str) -> Self {
        [
            (".yaml", Self::Yaml),
            (".yml", Self::Yaml),
            (".json", Self::Json),
            (".env", Self::Dotenv),
            (".ini", Self::Ini),
        ]
        .into_iter()
        .find(|(ending, _)| file_name.ends_with(ending))
        .map_or(Self::Binary, |(_, format)| format)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Binary => "a binary file",
            Self::Dotenv => "dotenv",
            Self::Ini => "INI",
            Self::Json => "JSON",
            Self::Yaml => "YAML",
        }
    }

    /// Reads the documents of an encrypted file; only YAML has several.
    pub(crate) fn read(self, text: &str) -> Result<Vec<Branch>, SopsError> {
        match self {
            Self::Yaml => yaml::read(text),
            Self::Json | Self::Binary => Ok(vec![json::read(text)?]),
            Self::Dotenv => Ok(vec![dotenv::read(text)?]),
            Self::Ini => Ok(vec![ini::read(text)?]),
        }
    }

    /// Prints decrypted documents.
    pub(crate) fn write(self, documents: &[Branch]) -> Result<Secret, SopsError> {
        let first = documents.first().map(Vec::as_slice).unwrap_or_default();
        match self {
            Self::Yaml => Ok(yaml::write(documents)),
            Self::Json => json::write(first),
            Self::Dotenv => dotenv::write(first),
            Self::Ini => ini::write(documents),
            Self::Binary => binary(documents).cloned().ok_or_else(|| {
                let problem = "it has no single text `data`; name the file after its format, such as `.yaml`";
                SopsError::Output { format: self.name(), problem: problem.to_owned() }
            }),
        }
    }
}

/// Returns the content of a binary file: the text of the field `data`.
fn binary(documents: &[Branch]) -> Option<&Secret> {
    let [document] = documents else { return None };
    document.iter().filter_map(Entry::as_field).find_map(|(key, value)| match value {
        Value::Text(text) if key == "data" => Some(text),
        _ => None,
    })
}

/// Returns the content of a file whose only entry is the text `data`, which is binary whatever its name.
pub(crate) fn single_data(documents: &[Branch]) -> Option<&Secret> {
    match documents.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] {
        [[_]] => binary(documents),
        _ => None,
    }
}
