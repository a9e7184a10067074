use schemars::JsonSchema;
use serde::Serialize;

/// Result of `kustomize lint -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KustomizationLint {
    /// Named kustomizations, in the order of the command line.
    pub kustomizations: Vec<KustomizationFindings>,
}

/// Findings in one kustomization and everything it builds on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KustomizationFindings {
    /// Folder or URL of the kustomization, as named on the command line.
    pub place: String,
    /// Findings without duplicates: errors in build order, then warnings.
    pub findings: Vec<KustomizationFinding>,
}

/// One problem or warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KustomizationFinding {
    /// Severity of the finding.
    pub severity: FindingSeverity,
    /// File of the finding.
    pub file: String,
    /// Line of the field in the file, from 1; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Field in the file, such as `patches[0]`; absent for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Description of the problem, without values of objects.
    pub message: String,
    /// Files that include the file, outermost first; empty for the file of the kustomization itself.
    pub by_way_of: Vec<String>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FindingSeverity {
    /// The kustomization cannot be built.
    Error,
    /// The kustomization can be built, but the result may be unintended.
    Warning,
}
