//! Errors with Helm's reasons, and with their facts as fields.

use manifest::yaml::YamlError;
use template::{Limit, Problem, RenderError};

use crate::archive::ArchiveError;
use crate::decode::TypeError;
use crate::metadata::MetadataError;
use crate::release::ReleaseNameError;
use crate::schema::SchemaReport;
use crate::value_tree::{TableError, go_text};

/// A chart that cannot be loaded or rendered. The text is Helm's reason.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ChartError {
    /// A file of the chart is not YAML.
    #[error("cannot load {file}: error converting YAML to JSON: yaml: {}", go_text(.error))]
    Yaml { file: String, error: YamlError },
    /// A field of a file has another type.
    #[error("cannot load {file}: {error}")]
    Field { file: String, error: TypeError },
    /// `values.yaml` is not a mapping.
    #[error("cannot load values.yaml: {0}")]
    Values(TableError),
    #[error(transparent)]
    Metadata(MetadataError),
    #[error("Chart.yaml file is missing")]
    NoChartFile {
        /// Files with a similar name.
        near: Vec<String>,
    },
    #[error(transparent)]
    Archive(ArchiveError),
    /// A folder or an archive in `charts/` is not a chart.
    #[error("error unpacking subchart {name} in {parent}: {error}")]
    Subchart { name: String, parent: String, error: Box<Self> },
    /// A folder in `charts/` has the name of an archive.
    #[error("error unpacking subchart tar in {parent}: expected {name}, got {found}")]
    ArchiveIsFolder { name: String, parent: String, found: String },
    #[error("charts contain charts to more than {limit} levels")]
    TooDeep { limit: usize },
    /// Dependencies of `Chart.yaml` are not in `charts/`.
    #[error(
        "An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
        .names.join(", ")
    )]
    MissingDependencies { names: Vec<String>, present: Vec<String> },
    #[error("{kind} charts are not installable")]
    NotInstallable { kind: String },
    #[error(transparent)]
    ReleaseName(ReleaseNameError),
    /// The values of a subchart are not a mapping.
    #[error("type mismatch on {name}: {found}")]
    SubchartValues { name: String, found: String },
    #[error("the templates print more than the limit of {limit} bytes")]
    OutputTooLarge { limit: usize },
    #[error("the values are nested too deeply")]
    ValuesTooDeep,
    #[error(
        "values don't meet the specifications of the schema(s) in the following chart(s):\n{}",
        .reports.iter().map(ToString::to_string).collect::<String>()
    )]
    Schema { reports: Vec<SchemaReport> },
    #[error("chart requires kubeVersion: {required} which is incompatible with Kubernetes {found}")]
    KubeVersion { required: String, found: String },
    /// A template cannot be parsed or rendered.
    #[error("{message}")]
    Template {
        message: String,
        position: Option<Box<TemplatePosition>>,
        error: Box<template::Error>,
        /// All values that templates require and that are missing, if the first problem is one of them.
        required: Vec<TemplatePosition>,
    },
    /// The output of a template is not YAML.
    #[error("YAML parse error on {template}: error converting YAML to JSON: yaml: {}", go_text(.error))]
    ManifestYaml {
        template: String,
        /// The position in `output`.
        error: YamlError,
        /// The document that the template printed.
        output: String,
    },
    /// The output of a template is YAML, but not a Kubernetes object.
    #[error("YAML parse error on {template}: {error}")]
    ManifestField { template: String, error: TypeError, output: String },
}

/// The position of a failing action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplatePosition {
    /// The file, with the path of its chart: `web/charts/db/templates/a.yaml`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 0; `None` in texts that cannot be parsed.
    pub column: Option<usize>,
    /// The failing part of the action.
    pub context: String,
    /// The kind of problem, with the path of the value that is nil and with near names.
    pub problem: Problem,
}

impl ChartError {
    /// Wraps the error of a template as Helm words it.
    pub fn of_template(file: &str, error: template::Error) -> Self {
        let (message, position) = match &error {
            template::Error::Parse(error) => {
                let text = error.to_string();
                let mut parts = text.split(": ").skip(1);
                let location = parts.next().unwrap_or_default();
                let reason = parts.last().unwrap_or(location);
                let problem = if error.near.is_empty() {
                    Problem::Other
                } else {
                    Problem::NoTemplate { name: String::new(), near: error.near.clone() }
                };
                let position = TemplatePosition {
                    file: error.template.clone(),
                    line: error.line,
                    column: None,
                    context: String::new(),
                    problem,
                };
                (format!("parse error at ({location}): {reason}"), Some(Box::new(position)))
            }
            template::Error::Render(error) => {
                let position = TemplatePosition::of(error.innermost());
                (execution_message(&error.to_string()), Some(Box::new(position)))
            }
            template::Error::NoTemplate { .. } => (format!("{file}: {error}"), None),
        };
        Self::Template { message, position, error: Box::new(error), required: Vec::new() }
    }

    /// Returns the limit that a template exceeded.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Template { position: Some(position), .. } => match position.problem {
                Problem::Limit(limit) => Some(limit),
                _ => None,
            },
            _ => None,
        }
    }
}

impl TemplatePosition {
    pub(crate) fn of(error: &RenderError) -> Self {
        Self {
            file: error.file.clone(),
            line: error.line,
            column: Some(error.column),
            context: error.context.clone(),
            problem: error.problem.clone(),
        }
    }

    /// The message of the template, if it called `fail` or `required`.
    pub fn message(&self) -> Option<&str> {
        match &self.problem {
            Problem::Failed { message } => Some(message),
            _ => None,
        }
    }
}

/// Shortens the text of an error to the message of `fail` or `required`, if the template called one of them.
fn execution_message(text: &str) -> String {
    const START: &str = "HELM_ERR_START";
    const END: &str = "HELM_ERR_END";
    let mut parts = text.splitn(3, ": ").skip(1);
    let (Some(location), Some(rest)) = (parts.next(), parts.next()) else { return text.to_owned() };
    let marked = rest.find(START).map(|at| &rest[at + START.len()..]);
    match marked.and_then(|marked| marked.rfind(END).map(|end| &marked[..end])) {
        Some(message) => format!("execution error at ({location}): {message}"),
        None => text.to_owned(),
    }
}
