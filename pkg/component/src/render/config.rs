//! `.component-config.yaml`: the options of a kustomization with templates.

use manifest::{YamlLimits, type_name, yaml};
use serde_json::{Map, Value};
use template::Delimiters;

use super::error::RenderProblem;
use super::files::text;
use chart::TreePath;

/// The name of the file with the options.
pub(super) const CONFIG_FILE: &str = ".component-config.yaml";

/// The options of a kustomization.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// The end of the names of templates; empty if all files are templates.
    pub(super) template_suffix: String,
    pub(super) delimiters: Delimiters,
    /// Files and folders outside the kustomization that templates may read.
    pub(super) included_files: Vec<String>,
    /// The folders of further kustomizations.
    pub(super) included_kustomizations: Vec<String>,
    /// The default values.
    pub(super) values: Map<String, Value>,
}

impl Config {
    /// Parses the file. Names of fields may have any case; unknown fields are ignored.
    pub(super) fn parse(path: &TreePath, content: &[u8]) -> Result<Self, RenderProblem> {
        let error = |reason: String| RenderProblem::Config { path: path.clone(), reason };
        let fields = match yaml::read_value(&text(content), &YamlLimits::default()) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::Null) => return Ok(Self::default()),
            Ok(other) => return Err(error(format!("expected a mapping, found {}", type_name(&other)))),
            Err(problem) => return Err(error(format!("line {}: {}", problem.line, problem.kind))),
        };
        let mut config = Self::default();
        let (mut left, mut right) = (String::new(), String::new());
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
            let read = match name.to_lowercase().as_str() {
                "templatesuffix" => text_of(value).map(|text| config.template_suffix = text),
                "lefttemplatedelimiter" => text_of(value).map(|text| left = text),
                "righttemplatedelimiter" => text_of(value).map(|text| right = text),
                "includedfiles" => texts_of(value).map(|texts| config.included_files = texts),
                "includedkustomizations" => {
                    texts_of(value).map(|texts| config.included_kustomizations = texts)
                }
                "values" => table_of(value).map(|table| config.values = table),
                _ => Ok(()),
            };
            read.map_err(|(expected, found)| error(format!("`{name}` must be {expected}, not {found}")))?;
        }
        config.delimiters = Delimiters::new(left, right);
        Ok(config)
    }
}

/// The expected and the found type of a field.
type TypeMismatch = (&'static str, &'static str);

fn text_of(value: Value) -> Result<String, TypeMismatch> {
    match value {
        Value::String(text) => Ok(text),
        // A number or a boolean without quotes counts as text.
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        other => Err(("a string", type_name(&other))),
    }
}

fn texts_of(value: Value) -> Result<Vec<String>, TypeMismatch> {
    match value {
        Value::Array(items) => items.into_iter().map(text_of).collect(),
        other => Err(("a list", type_name(&other))),
    }
}

fn table_of(value: Value) -> Result<Map<String, Value>, TypeMismatch> {
    match value {
        Value::Object(table) => Ok(table),
        other => Err(("a mapping", type_name(&other))),
    }
}
