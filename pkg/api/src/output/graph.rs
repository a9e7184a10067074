use schemars::JsonSchema;
use serde::Serialize;

use super::ObjectName;

/// Result of `graph`: objects of Cluster API and who owns whom.
/// Objects are referred to by their position in `objects`, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnerGraph {
    /// Namespaces that were looked at; all when empty.
    pub namespaces: Vec<String>,
    /// The Cluster it is limited to, as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The objects, by kind, namespace and name.
    pub objects: Vec<GraphObject>,
    /// Objects that own each other in a circle: each is owned by the next, the last by the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<Vec<usize>>,
    /// Secrets and ConfigMaps that nothing links to anything, which are not among the objects.
    pub left_out: usize,
}

/// An object, whom it belongs to, and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphObject {
    /// Which object.
    pub object: ObjectName,
    /// Its owners: those it names, in its order, then soft ones.
    pub owners: Vec<GraphOwner>,
    /// The first Cluster it belongs to, itself if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<usize>,
    /// How it is, by its condition.
    pub state: GraphState,
    /// Its condition; absent where the kind has none or it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<GraphCondition>,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether it is told to go.
    pub deleting: bool,
    /// What a move would do with it.
    pub fate: GraphFate,
}

/// An owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphOwner {
    /// Its position; absent when it is not among the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// By what it is the owner.
    pub tie: GraphTie,
    /// Whether it is the controller.
    pub controller: bool,
}

/// What makes an object the owner of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GraphTie {
    /// An owner reference.
    Hard,
    /// A name or another field: the Cluster of a certificate, the ClusterClass of a Cluster, the Cluster of a
    /// ClusterResourceSetBinding.
    Soft,
}

/// How an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GraphState {
    /// Its condition holds.
    Ready,
    /// Its condition does not hold.
    NotReady,
    /// Its condition is unknown.
    Unknown,
    /// It has no condition, or none that was read.
    #[default]
    NoCondition,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphCondition {
    /// `Ready` or `Available`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// The reason.
    pub reason: String,
}

/// What a move would do with an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphFate {
    /// Whether it is created on the target.
    pub moves: bool,
    /// Why it moves or stays.
    pub why: String,
    /// Why it stays on the source as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

impl GraphState {
    /// As in `json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NotReady => "notReady",
            Self::Unknown => "unknown",
            Self::NoCondition => "noCondition",
        }
    }
}
