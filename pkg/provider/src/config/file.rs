use std::path::PathBuf;

use manifest::{Limits, Map, Value, yaml};

use super::{Environment, dotenv};

/// A configuration file as it was found, not yet understood.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Its path or URL, for messages.
    pub origin: String,
    /// The folder it lies in, which relative provider urls start from; none for a file from a URL.
    pub folder: Option<PathBuf>,
    /// How to read the text.
    pub format: ConfigFormat,
    /// The content.
    pub text: String,
}

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// YAML, with the scalar rules of YAML 1.2 for `yes`, `no`, `on` and `off`.
    Yaml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// `NAME=value` lines.
    Dotenv,
}

impl ConfigFormat {
    /// The extensions a configuration file is looked for under, in order.
    /// Source: viper 1.21, which finds more formats than it can decode.
    pub const SEARCHED: [&'static str; 12] = [
        "json",
        "toml",
        "yaml",
        "yml",
        "properties",
        "props",
        "prop",
        "hcl",
        "tfvars",
        "dotenv",
        "env",
        "ini",
    ];

    /// The format of a file by its extension; none for the formats that are found and cannot be read.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            "env" | "dotenv" => Some(Self::Dotenv),
            _ => None,
        }
    }
}

/// A configuration file that does not hold what its format asks for.
#[derive(Debug, thiserror::Error)]
pub enum UndecodableConfig {
    /// Not YAML, or a key stands twice.
    #[error("the file is not valid YAML")]
    Yaml(#[source] yaml::YamlError),
    /// Not JSON.
    #[error("the file is not valid JSON")]
    Json(#[source] serde_json::Error),
    /// Not TOML.
    #[error("the file is not valid TOML: line {line}, column {column}: {problem}")]
    Toml {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there, without the text, which may be a secret.
        problem: String,
    },
    /// A line that is neither empty, a comment nor `NAME=value`.
    #[error("line {line} is not of the form NAME=value, or its quotes are not closed")]
    Dotenv {
        /// Line, from 1.
        line: usize,
    },
    /// A list or a single value where keys are expected.
    #[error("the file holds {found} where keys with values are expected")]
    NotAMapping {
        /// What is there.
        found: &'static str,
    },
}

/// Reads the text into a tree whose keys are all lower case.
/// Shape: an empty file gives an empty tree. Of keys that differ in case alone one with capitals wins, the last in byte
/// order if there are several.
pub(super) fn decode(
    file: &ConfigFile,
    environment: &Environment,
) -> Result<Map<String, Value>, UndecodableConfig> {
    let tree = match file.format {
        ConfigFormat::Yaml => {
            yaml::read_settings(&file.text, &Limits::default()).map_err(UndecodableConfig::Yaml)?
        }
        ConfigFormat::Json if file.text.trim().is_empty() => Value::Null,
        ConfigFormat::Json => serde_json::from_str(&file.text).map_err(UndecodableConfig::Json)?,
        ConfigFormat::Toml => read_toml(&file.text)?,
        ConfigFormat::Dotenv => Value::Object(
            dotenv::read(&file.text, environment).map_err(|line| UndecodableConfig::Dotenv { line })?,
        ),
    };
    match lower_case(tree) {
        Value::Object(tree) => Ok(tree),
        Value::Null => Ok(Map::new()),
        other => Err(UndecodableConfig::NotAMapping { found: super::text::kind(&other) }),
    }
}

fn read_toml(text: &str) -> Result<Value, UndecodableConfig> {
    match text.parse::<toml::Table>() {
        Ok(table) => Ok(from_toml(toml::Value::Table(table))),
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            let before = text.get(..offset).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            Err(UndecodableConfig::Toml {
                line: 1 + before.matches('\n').count(),
                column: 1 + before[line_start..].chars().count(),
                problem: error.message().replace('\n', ", "),
            })
        }
    }
}

fn from_toml(toml: toml::Value) -> Value {
    match toml {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(flag) => Value::from(flag),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(from_toml).collect(),
        toml::Value::Table(fields) => fields.into_iter().map(|(key, item)| (key, from_toml(item))).collect(),
    }
}

/// Viper folds the case of every key, also inside lists; users rely on `certManager` and `CERT-MANAGER` alike.
/// What stands in `patches` is of Kubernetes and is left as it is.
fn lower_case(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut folded = Map::new();
            for (key, item) in fields {
                let lower = key.to_lowercase();
                if key != lower || !folded.contains_key(&lower) {
                    let item = if lower == "patches" { item } else { lower_case(item) };
                    folded.insert(lower, item);
                }
            }
            Value::Object(folded)
        }
        Value::Array(items) => items.into_iter().map(lower_case).collect(),
        other => other,
    }
}
