use schemars::JsonSchema;
use serde::Serialize;

use crate::ObjectKey;

/// Result of `alpha rollout status`: the progress of rollouts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutReport {
    /// Rollouts, in the order of the command line.
    pub rollouts: Vec<RolloutStatus>,
}

/// Progress of one rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutStatus {
    /// The rolled-out object.
    pub object: ObjectKey,
    /// State: `complete`, `progressing`, `paused` or `deleting`.
    #[schemars(with = "String")]
    pub state: RolloutState,
    /// Description of the remaining work, or the start time of the next rollout.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Desired number of machines; absent if machines are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<u64>,
    /// Current number of machines, including old ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u64>,
    /// Number of up-to-date machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_date: Option<u64>,
    /// Number of available machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<u64>,
}

/// The state of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RolloutState {
    /// All machines are up to date and available.
    Complete,
    /// Some machines are not up to date or not available.
    Progressing,
    /// Some machines are not up to date or not available, and the rollout is paused.
    Paused,
    /// The object is being deleted.
    Deleting,
}

impl RolloutStatus {
    /// True if the rollout is complete.
    pub fn is_complete(&self) -> bool {
        self.state == RolloutState::Complete
    }
}

impl RolloutState {
    /// Returns the state as written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Progressing => "progressing",
            Self::Paused => "paused",
            Self::Deleting => "deleting",
        }
    }
}

/// Result of `alpha rollout restart`, `pause` and `resume`: the changed rollouts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutChangeReport {
    /// `alpha rollout restart`, `alpha rollout pause` or `alpha rollout resume`.
    pub command: String,
    /// True if the command was executed; false if it was only planned.
    pub carried_out: bool,
    /// Changed objects, in the order of the command line.
    pub rollouts: Vec<ObjectKey>,
}
