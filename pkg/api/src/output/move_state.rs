use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectKey;

use super::MoveState;

/// Result of `move status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveStatus {
    /// The last move from or to the inspected clusters; absent if there was none.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub last: Option<MoveProgress>,
    /// Saves that have paused objects and not resumed them yet, sorted by process.
    pub saves: Vec<OpenSave>,
    /// Resources that the user may not read, with the reason; absent if everything was read.
    /// Saves that paused such objects may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

/// An active or interrupted save, such as `move --to-directory`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenSave {
    /// Process of the save.
    pub process: String,
    /// True if the process has ended. In `move status`, processes on other machines always count as active.
    pub over: bool,
    /// Clusters and ClusterClasses that the save has paused.
    pub paused: Vec<ObjectKey>,
    /// Next step for the user, as text.
    pub next: String,
    /// Command that resumes the paused objects; absent while the process may be active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A move, its state and the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveProgress {
    /// ID of the move: the value of the annotation `capstan.dev/move` on paused objects.
    pub run: String,
    /// State of the move.
    pub state: MoveState,
    /// True if the move can be resumed.
    pub unfinished: bool,
    /// Namespaces of the move on the source cluster.
    pub namespaces: Vec<String>,
    /// Clusters of the move, as `namespace/name`; absent for every Cluster in the namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Vec<String>>,
    /// Number of objects that move; 0 before the objects are created.
    pub objects: usize,
    /// Paused Clusters and ClusterClasses, without those that the user had paused.
    pub paused: Vec<ObjectKey>,
    /// Machine of the last run of the move.
    pub host: String,
    /// Process of the last run of the move.
    pub process: String,
    /// Next step for the user, as text.
    pub next: String,
    /// Command that resumes the move; absent if the move needs no further step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Result of `move --abort`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveAborted {
    /// Number of objects that were removed from the target cluster.
    pub removed: usize,
    /// Clusters and ClusterClasses that were resumed on the source cluster.
    pub resumed: Vec<ObjectKey>,
    /// Objects that existed on the target cluster before and may be overwritten. Clusters among them stay paused there.
    pub overwritten: Vec<ObjectKey>,
    /// Objects on the target cluster that another program created since the move began. They stay.
    pub foreign: Vec<ObjectKey>,
    /// Copies of Clusters that others deleted on the source cluster, with everything they own. They stay paused.
    pub only_on_target: Vec<ObjectKey>,
    /// Namespaces that the move created on the target cluster and that now contain other objects.
    pub namespaces_left: Vec<String>,
}

/// Phase of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MovePhase {
    /// Clusters are being paused.
    Pausing,
    /// Objects are being created on the target cluster.
    Creating,
    /// Objects on the target cluster are compared with the sent objects.
    Verifying,
    /// Objects are being deleted on the source cluster. The move cannot be aborted any more.
    Deleting,
    /// Clusters are being resumed.
    Resuming,
    /// The move is complete.
    Finished,
    /// The move is being undone.
    Aborting,
    /// The move was undone.
    Aborted,
}

impl MovePhase {
    /// Returns the word for people and scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pausing => "pausing",
            Self::Creating => "creating",
            Self::Verifying => "verifying",
            Self::Deleting => "deleting",
            Self::Resuming => "resuming",
            Self::Finished => "finished",
            Self::Aborting => "aborting",
            Self::Aborted => "aborted",
        }
    }
}
