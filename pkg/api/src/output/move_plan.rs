use schemars::JsonSchema;
use serde::Serialize;

use super::ObjectName;

/// Result of `move --dry-run`: what a move would do with every object of its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovePlan {
    /// Address of the cluster objects are on.
    pub source: String,
    /// Address of the cluster they go to; absent when only the source was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The namespaces that are moved out of.
    pub namespaces: Vec<String>,
    /// An unfinished move that this one goes on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<MoveState>,
    /// Namespaces that have to be made on the target.
    pub new_namespaces: Vec<String>,
    /// What moves, in the order it is created; it is deleted in reverse.
    pub moving: Vec<MovingObject>,
    /// What was looked at and stays, by kind, namespace and name.
    pub staying: Vec<StayingObject>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// An object that moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovingObject {
    /// Which one, on the source.
    pub object: ObjectName,
    /// Its namespace on the target, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_namespace: Option<String>,
    /// What is done with it.
    pub action: MoveAction,
    /// Its group, from 1: objects of a group are written side by side, owners in an earlier one.
    pub group: usize,
    /// Why it moves.
    pub why: String,
    /// Why it stays on the source as well; absent when it is deleted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// What a move does with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MoveAction {
    /// It is created on the target and deleted on the source. Without a target it is not known whether it is there.
    Move,
    /// It is on the target, takes the content of the source, and is deleted there.
    Overwrite,
    /// It is created on the target and stays on the source.
    Copy,
    /// It is on the target, takes the content of the source, and stays there as well.
    Update,
    /// It is on both sides and left alone.
    LeaveAlone,
    /// It is read and written into a file, and stays as it is.
    Save,
    /// It was saved, and is created on the target.
    Create,
}

/// An object that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StayingObject {
    /// Which one.
    pub object: ObjectName,
    /// Why.
    pub why: String,
}

/// Result of `move` and of `move report`: what became of every object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveReport {
    /// Which move; empty when there was nothing to move.
    pub run: String,
    /// Its ends and how far it is; absent where there is no journal of it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<MoveState>,
    /// Every object of the scope, by its name on the source.
    pub objects: Vec<MovedObject>,
    /// Objects the target keeps in another way than they were sent, where that was accepted.
    pub differences: Vec<MovedObject>,
}

/// How far a move is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveState {
    /// When it began, RFC 3339.
    pub begun: String,
    /// Address of the cluster objects were on.
    pub source: String,
    /// Address of the cluster they go to.
    pub target: String,
    /// `pausing`, `creating`, `verifying`, `deleting`, `resuming`, `finished`, `aborting` or `aborted`.
    pub phase: String,
}

/// An object, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedObject {
    /// Which one.
    pub object: ObjectName,
    /// In words.
    pub outcome: String,
}

impl MoveAction {
    /// The word for people.
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
