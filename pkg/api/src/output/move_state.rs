use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MoveState, ObjectName};

/// Result of `move status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveStatus {
    /// The last move out of or into the clusters that were looked at; absent when there was none.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub last: Option<MoveProgress>,
    /// Saves that have paused what they read and not resumed it yet, by process.
    pub saves: Vec<OpenSave>,
    /// What the user may not look at, each with the reason: of saves that have paused it nothing is known; absent when
    /// everything was looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

/// A save, as of `move --to-directory`, that is at work or was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenSave {
    /// The process that works or worked on it.
    pub process: String,
    /// Whether that process is known to have ended; of those of other machines it is not.
    pub over: bool,
    /// Clusters and ClusterClasses it has paused.
    pub paused: Vec<ObjectName>,
    /// What is to be done, in words.
    pub next: String,
    /// The command that resumes them; absent while the process may be at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A move, how far it is, and what is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveProgress {
    /// Which one: the value of the annotation `capstan.dev/move` on what it has paused.
    pub run: String,
    /// Its ends and how far it is.
    pub state: MoveState,
    /// Whether there is something to go on with.
    pub unfinished: bool,
    /// The namespaces it moves out of.
    pub namespaces: Vec<String>,
    /// The Clusters it moves, as `namespace/name`; absent for all of the namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Vec<String>>,
    /// Objects that move; 0 until they are created.
    pub objects: usize,
    /// Clusters and ClusterClasses that rest, but for those the user had paused.
    pub paused: Vec<ObjectName>,
    /// The machine it was worked on last.
    pub host: String,
    /// The process on it.
    pub process: String,
    /// What is to be done, in words.
    pub next: String,
    /// The command that goes on with it; absent when nothing is left to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Result of `move --abort`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveAborted {
    /// Objects that were removed from the target.
    pub removed: usize,
    /// Clusters and ClusterClasses that go on on the source.
    pub resumed: Vec<ObjectName>,
    /// Objects that were on the target before and may have been overwritten; a Cluster among them stays paused there.
    pub overwritten: Vec<ObjectName>,
    /// Namespaces that were made on the target and hold other things by now.
    pub namespaces_left: Vec<String>,
}

/// How far a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MovePhase {
    /// Clusters are paused.
    Pausing,
    /// Objects are created on the target.
    Creating,
    /// The target is compared with what was sent.
    Verifying,
    /// Objects are deleted on the source: there is no way back.
    Deleting,
    /// Clusters are resumed.
    Resuming,
    /// Done.
    Finished,
    /// It is undone.
    Aborting,
    /// It was undone.
    Aborted,
}

impl MovePhase {
    /// The word for people and scripts.
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
