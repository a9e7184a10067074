use schemars::JsonSchema;
use serde::Serialize;

use crate::ObjectKey;

/// Result of `graph`: Cluster API objects and their owners.
/// Positions are indexes into `objects`, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnerGraph {
    /// Searched namespaces; empty for all namespaces.
    pub namespaces: Vec<String>,
    /// The only Cluster in the graph, as `namespace/name`; absent if the graph is not limited to one Cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Objects, sorted by kind, namespace and name.
    pub objects: Vec<GraphObject>,
    /// Ownership cycles: each object is owned by the next one, the last by the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<Vec<usize>>,
    /// Number of Secrets and ConfigMaps without any link to other objects. They are not in `objects`.
    pub left_out: usize,
}

/// An object, its owners and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphObject {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Owners: first owner references in the order of the object, then soft owners.
    pub owners: Vec<GraphOwner>,
    /// Position of the first Cluster that the object belongs to. A Cluster belongs to itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<usize>,
    /// State of the object according to its condition.
    pub state: GraphState,
    /// Condition of the object; absent if the kind has none or the condition was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<GraphCondition>,
    /// True if the object is paused.
    pub paused: bool,
    /// True if the object is being deleted.
    pub deleting: bool,
    /// Effect of a move on the object.
    pub fate: GraphFate,
}

/// An owner of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphOwner {
    /// Position of the owner; absent if the owner is not in `objects`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner.
    pub name: String,
    /// Type of the ownership.
    pub tie: GraphTie,
    /// True if the owner is the controller.
    pub controller: bool,
}

/// Type of an ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GraphTie {
    /// An owner reference.
    Hard,
    /// A name or another field, such as the ClusterClass of a Cluster or the Cluster of a certificate or a
    /// ClusterResourceSetBinding.
    Soft,
}

/// State of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GraphState {
    /// The condition is true.
    Ready,
    /// The condition is false.
    NotReady,
    /// The condition is unknown.
    Unknown,
    /// The object has no condition, or the condition was not read.
    #[default]
    NoCondition,
}

/// A condition of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphCondition {
    /// `Ready` or `Available`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Reason of the condition.
    pub reason: String,
}

/// Effect of a move on an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphFate {
    /// True if the move creates the object on the target cluster.
    pub moves: bool,
    /// Reason for moving or skipping the object.
    pub why: String,
    /// Reason for keeping the object on the source cluster; absent if it is not kept there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

impl GraphState {
    /// Returns the state as written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NotReady => "notReady",
            Self::Unknown => "unknown",
            Self::NoCondition => "noCondition",
        }
    }
}
