use schemars::JsonSchema;
use serde::Serialize;

use super::ObjectName;

/// Result of `alpha rollout status`: how far rollouts are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutReport {
    /// In the order they were named.
    pub rollouts: Vec<RolloutStatus>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStatus {
    /// What is rolled out.
    pub object: ObjectName,
    /// `complete`, `progressing`, `paused` or `deleting`.
    pub state: String,
    /// What is still to come, or when the next one begins.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Machines there are to be; absent where none are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<u64>,
    /// Machines there are, old ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u64>,
    /// Machines that are as they are to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_date: Option<u64>,
    /// Machines that are available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<u64>,
}

/// Result of `alpha rollout restart`, `pause` and `resume`: the changed rollouts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutChangeReport {
    /// `alpha rollout restart`, `alpha rollout pause` or `alpha rollout resume`.
    pub command: String,
    /// True if it was carried out; false if it is only planned.
    pub carried_out: bool,
    /// In the order they were named.
    pub rollouts: Vec<ObjectName>,
}
