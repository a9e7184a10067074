use std::path::PathBuf;

use manifest::{Map, Value, YamlLimits, yaml};

use super::{Environment, dotenv};

/// An unparsed configuration file.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// The path or url, for messages.
    pub origin: String,
    /// The folder of the file, the base of relative provider urls. `None` for a file from a url.
    pub folder: Option<PathBuf>,
    /// The format of the text.
    pub format: ConfigFormat,
    /// The text before parsing.
    pub text: String,
}

/// Supported file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// YAML, where `yes`, `no`, `on` and `off` are text as in YAML 1.2.
    Yaml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// `NAME=value` lines.
    Dotenv,
}

impl ConfigFormat {
    /// The file extensions to search for, in order.
    /// Source: viper 1.21, which finds more formats than it can decode.
    pub const SEARCHED_EXTENSIONS: [&'static str; 12] = [
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

    /// The format of a file extension. `None` for formats that are found but cannot be decoded.
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

/// A configuration file that is invalid for its format.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum UndecodableConfig {
    #[error("the file is not valid YAML")]
    Yaml(#[source] yaml::YamlError),
    #[error("the file is not valid JSON")]
    Json(#[source] serde_json::Error),
    #[error("the file is not valid TOML: line {line}, column {column}: {problem}")]
    Toml {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The error of the TOML parser, without the text, which may be a secret.
        problem: String,
    },
    #[error("line {line} is not `NAME=value`, or a quote is not closed")]
    Dotenv {
        /// Line, from 1.
        line: usize,
    },
    #[error("the file must be a mapping, not {found}")]
    NotAMapping { found: &'static str },
}

/// Parses the text into a tree with lower-case keys.
///
/// Shape: an empty file gives an empty tree. If keys differ in case only, the last key with capitals in byte order
/// wins.
pub(super) fn decode(
    file: &ConfigFile,
    environment: &Environment,
) -> Result<Map<String, Value>, UndecodableConfig> {
    let tree = match file.format {
        ConfigFormat::Yaml => {
            yaml::read_settings(&file.text, &YamlLimits::default()).map_err(UndecodableConfig::Yaml)?
        }
        ConfigFormat::Json if file.text.trim().is_empty() => Value::Null,
        ConfigFormat::Json => serde_json::from_str(&file.text).map_err(UndecodableConfig::Json)?,
        ConfigFormat::Toml => read_toml(&file.text)?,
        ConfigFormat::Dotenv => Value::Object(
            dotenv::read(&file.text, environment).map_err(|line| UndecodableConfig::Dotenv { line })?,
        ),
    };
    match lower_case_keys(tree) {
        Value::Object(tree) => Ok(tree),
        Value::Null => Ok(Map::new()),
        other => Err(UndecodableConfig::NotAMapping { found: super::text::kind_name(&other) }),
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

/// Converts keys to lower case, also inside lists, as viper does, because users write both `certManager` and
/// `CERT-MANAGER`. Keys inside `patches` are Kubernetes fields and stay as written.
fn lower_case_keys(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut folded = Map::new();
            for (key, item) in fields {
                let lower = key.to_lowercase();
                if key != lower || !folded.contains_key(&lower) {
                    let item = if lower == "patches" { item } else { lower_case_keys(item) };
                    folded.insert(lower, item);
                }
            }
            Value::Object(folded)
        }
        Value::Array(items) => items.into_iter().map(lower_case_keys).collect(),
        other => other,
    }
}
