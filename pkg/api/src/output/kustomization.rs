use schemars::JsonSchema;
use serde::Serialize;

/// Result of `kustomize lint -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KustomizationLint {
    /// Every kustomization that was named, in that order.
    pub kustomizations: Vec<KustomizationFindings>,
}

/// What was found in one kustomization and all it builds on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KustomizationFindings {
    /// Folder or URL, as it was named.
    pub place: String,
    /// Each once: errors in the order of the build, then warnings.
    pub findings: Vec<KustomizationFinding>,
}

/// One problem or warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KustomizationFinding {
    /// How bad it is.
    pub severity: FindingSeverity,
    /// The file it is in.
    pub file: String,
    /// The line of the field in that file, from 1; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The field in that file, such as `patches[0]`; absent for the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong, without a value of any object.
    pub message: String,
    /// The files that led there, outermost first; empty for the file of the kustomization itself.
    pub by_way_of: Vec<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FindingSeverity {
    /// It cannot be built.
    Error,
    /// It can be built, and may not be what was meant.
    Warning,
}
