use schemars::JsonSchema;
use serde::Serialize;

/// Result of `self check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelfCheck {
    /// Version of capstan.
    pub version: String,
    /// True if no check found an error.
    pub usable: bool,
    /// The checks, in a fixed order. A check may have several entries.
    pub checks: Vec<SelfCheckEntry>,
}

/// A finding about the installation on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelfCheckEntry {
    /// Name of the check, such as `cache`.
    pub name: String,
    /// Severity of the finding.
    pub state: SelfCheckState,
    /// The finding, without secrets.
    pub fact: String,
    /// The next step, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SelfCheckState {
    /// Works as it is.
    Ok,
    /// Works, and could be more convenient.
    Note,
    /// Works, perhaps not as intended.
    Warning,
    /// Commands fail until it is corrected.
    Error,
}
