//! The entries of `parameters.kapitan.compile`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::InputError;

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum InputType {
    Copy,
    External,
    Helm,
    Jinja2,
    Jsonnet,
    Kustomize,
    Remove,
}

/// The format of the files of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutputType {
    Json,
    Yaml,
    Yml,
    Plain,
    Toml,
    /// By the extension of the file.
    Auto,
}

impl OutputType {
    /// Returns the extension of a file.
    pub(super) fn extension(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("json"),
            Self::Yaml => Some("yaml"),
            Self::Yml => Some("yml"),
            Self::Toml => Some("toml"),
            Self::Plain | Self::Auto => None,
        }
    }
}

/// An input of a target.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names of the settings")]
pub(super) struct Input {
    /// The position in the list of inputs.
    #[serde(skip)]
    pub(super) index: usize,
    #[serde(rename = "name")]
    _name: Option<String>,
    pub(super) input_type: InputType,
    pub(super) input_paths: Vec<String>,
    #[serde(default)]
    output_path: Option<String>,
    #[serde(default)]
    output_type: Option<OutputType>,
    #[serde(default)]
    pub(super) input_params: Map<String, Value>,
    prune: Option<bool>,
    ignore_missing: Option<bool>,
    continue_on_compile_error: Option<bool>,

    #[serde(default)]
    pub(super) env_vars: Map<String, Value>,
    #[serde(default)]
    pub(super) args: Vec<String>,

    suffix_remove: Option<bool>,
    suffix_stripped: Option<String>,

    pub(super) helm_params: Option<Map<String, Value>>,
    pub(super) helm_values: Option<Map<String, Value>>,
    pub(super) helm_values_files: Option<Vec<String>>,
    #[serde(rename = "helm_path")]
    _helm_path: Option<String>,
    pub(super) kube_version: Option<String>,

    pub(super) namespace: Option<String>,
    pub(super) patches: Option<Map<String, Value>>,
    #[serde(rename = "patches_strategic")]
    _patches_strategic: Option<Map<String, Value>>,
    #[serde(rename = "patches_json")]
    _patches_json: Option<Map<String, Value>>,
}

impl Input {
    /// Reads the inputs of a target: the value of `kapitan.compile`.
    pub(super) fn all(entries: Option<&Value>) -> Result<Vec<Self>, InputError> {
        let Some(entries) = entries else { return Ok(Vec::new()) };
        let entries = match entries {
            Value::Null => return Ok(Vec::new()),
            Value::Array(entries) => entries,
            _ => return Err(InputError::NotAList),
        };
        let read = |(index, entry): (usize, &Value)| match Self::deserialize(entry) {
            Ok(input) => Ok(Self { index, ..input }),
            Err(error) => Err(InputError::Settings { index, reason: error.to_string() }),
        };
        entries.iter().enumerate().map(read).collect()
    }

    pub(super) fn output_path(&self) -> &str {
        self.output_path.as_deref().unwrap_or_default()
    }

    pub(super) fn output_type(&self) -> OutputType {
        match self.input_type {
            InputType::Helm => OutputType::Auto,
            InputType::Jinja2 => self.output_type.unwrap_or(OutputType::Plain),
            _ => self.output_type.unwrap_or(OutputType::Yaml),
        }
    }

    /// True if empty lists and mappings are removed.
    pub(super) fn prune(&self) -> bool {
        let default = !matches!(self.input_type, InputType::Jsonnet | InputType::Helm | InputType::Kustomize);
        self.prune.unwrap_or(default)
    }

    /// True if paths without files are no errors.
    pub(super) fn ignore_missing(&self) -> bool {
        self.ignore_missing.unwrap_or(self.input_type == InputType::Jinja2)
    }

    /// True if the target is complete without this input.
    pub(super) fn may_fail(&self) -> bool {
        self.continue_on_compile_error.unwrap_or_default()
    }

    /// The suffix that is removed from the names of templates.
    pub(super) fn removed_suffix(&self) -> Option<&str> {
        self.suffix_remove.unwrap_or_default().then(|| self.suffix_stripped.as_deref().unwrap_or(".j2"))
    }
}
