use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Result of `chart template -o json`: the objects of a rendered chart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartObjects {
    /// Objects in the order of the text output: definitions, objects, hooks.
    pub objects: Vec<ChartObject>,
    /// Text of the template `NOTES.txt`; absent without this template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// One object of a rendered chart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartObject {
    /// Template of the object, with the path of its chart, such as `web/templates/deployment.yaml`.
    /// Absent after `--kustomization`, which may merge and create objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Events that run the object as a hook, such as `pre-install`; absent for other objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hook_events: Vec<String>,
    /// Fields of the object.
    pub object: Value,
}

/// Result of `chart lint -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartLint {
    /// Checked charts, in the order of the command line; subcharts follow all named charts.
    pub charts: Vec<ChartFindings>,
}

/// Findings in one chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartFindings {
    /// Folder or archive of the chart.
    pub place: String,
    /// True if a finding makes the command fail: an error, or a warning with `--strict`.
    pub failed: bool,
    /// Findings in the order of the checks.
    pub findings: Vec<ChartFinding>,
}

/// One finding in a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartFinding {
    /// Severity of the finding.
    pub severity: ChartFindingSeverity,
    /// File or folder in the chart; absent if the finding is about the whole chart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in the file, from 1; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Description of the problem.
    pub message: String,
}

/// Severity of a finding in a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChartFindingSeverity {
    /// The chart cannot be installed.
    Error,
    /// The chart breaks a convention.
    Warning,
    /// A recommendation.
    Info,
}
