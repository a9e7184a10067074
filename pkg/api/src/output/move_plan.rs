use schemars::JsonSchema;
use serde::Serialize;

use crate::ObjectKey;

/// Result of `move --dry-run`: the planned action on every object in scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovePlan {
    /// Address of the source cluster.
    pub source: String,
    /// Address of the target cluster; absent if the dry run checks only the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Namespaces of the move on the source cluster.
    pub namespaces: Vec<String>,
    /// Unfinished move that this move resumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<MoveState>,
    /// Namespaces that the move creates on the target cluster.
    pub new_namespaces: Vec<String>,
    /// Objects that move, in the order of creation. They are deleted in reverse order.
    pub moving: Vec<MovingObject>,
    /// Objects that do not move, sorted by kind, namespace and name.
    pub staying: Vec<StayingObject>,
    /// Warnings of the move.
    pub warnings: Vec<String>,
}

/// An object that moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovingObject {
    /// The object on the source cluster.
    pub object: ObjectKey,
    /// Namespace on the target cluster, if it differs from the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_namespace: Option<String>,
    /// Action on the object.
    pub action: MoveAction,
    /// Group number, from 1. Objects of a group are written in parallel; owners are in an earlier group.
    pub group: usize,
    /// Reason for moving the object.
    pub why: String,
    /// Reason for keeping the object on the source cluster; absent if it is deleted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// Action of a move on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MoveAction {
    /// Create the object on the target and delete it on the source. Without a target, the object may exist there.
    Move,
    /// Overwrite the existing object on the target and delete the object on the source.
    Overwrite,
    /// Create the object on the target and keep it on the source.
    Copy,
    /// Overwrite the existing object on the target and keep the object on the source.
    Update,
    /// Keep the object unchanged on source and target.
    LeaveAlone,
    /// Save the object to a file and keep it unchanged on the source.
    Save,
    /// Create a saved object on the target.
    Create,
}

/// An object that does not move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StayingObject {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Reason for skipping the object.
    pub why: String,
}

/// Result of `move` and `move report`: the outcome for every object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveReport {
    /// ID of the move; empty if no object had to move.
    pub run: String,
    /// State of the move; absent if its journal no longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<MoveState>,
    /// Every object in scope, by its name on the source cluster.
    pub objects: Vec<MovedObject>,
    /// Objects that the target cluster stored differently than they were sent, if the user accepted the difference.
    pub differences: Vec<MovedObject>,
}

/// State of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveState {
    /// Start time, RFC 3339.
    pub begun: String,
    /// Address of the source cluster.
    pub source: String,
    /// Address of the target cluster.
    pub target: String,
    /// Phase: `pausing`, `creating`, `verifying`, `deleting`, `resuming`, `finished`, `aborting` or `aborted`.
    pub phase: String,
}

/// An object and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedObject {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Outcome as text.
    pub outcome: String,
}

impl MoveAction {
    /// Returns the word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Overwrite => "overwrite",
            Self::Copy => "copy",
            Self::Update => "update",
            Self::LeaveAlone => "leave",
            Self::Save => "save",
            Self::Create => "create",
        }
    }
}
