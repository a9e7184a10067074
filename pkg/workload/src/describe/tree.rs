use std::sync::Arc;

use api::output::{PartRole, ReplicaCounts};
use apply::{ApiError, ObjectKey};

use super::conditions::{Condition, ConditionSet};

/// A description of a workload cluster: a tree with the Cluster as root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTree {
    /// The Cluster and its descendants.
    pub root: TreeNode,
    /// The set of conditions that was read.
    pub conditions: ConditionSet,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// The role of the node in the cluster.
    pub role: PartRole,
    /// The content of the node.
    pub subject: Subject,
    /// The children, in display order.
    pub children: Vec<TreeNode>,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An object that was read.
    Object(Arc<ObjectSummary>),
    /// Objects of one kind with equal conditions.
    Group(MachineGroup),
    /// An object that was not read.
    Named(ObjectKey),
    /// An object that cannot be read, or a kind that cannot be listed.
    Unreadable(UnreadableObject),
    /// A heading for the children.
    Heading,
}

/// The shown fields of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSummary {
    /// The identity of the object.
    pub key: ObjectKey,
    /// The version in which the object was read.
    pub api_version: Arc<str>,
    /// The desired Kubernetes version: `None` if the kind has none, empty if unknown.
    pub version: Option<Arc<str>>,
    /// True if the object is being deleted.
    pub is_terminating: bool,
    /// The counts of its machines.
    pub replicas: ReplicaCounts,
    /// The conditions, in the order of the object.
    pub conditions: Vec<Condition>,
}

/// Machines with equal conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineGroup {
    /// The names of the machines, sorted.
    pub names: Vec<String>,
    /// The common condition `Ready` without a message, with the earliest time.
    pub ready: Option<Condition>,
    /// True if the machines are available.
    pub are_available: bool,
    /// True if the machines are up to date.
    pub are_up_to_date: bool,
}

/// An object that cannot be read, or a kind that cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableObject {
    /// The object; without a name, all objects of the kind.
    pub key: Box<ObjectKey>,
    /// The reason in one word, such as `Forbidden`.
    pub reason: String,
    /// The explanation in words.
    pub message: String,
}

/// The health of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterHealth {
    /// The Cluster is available, is not being deleted, and every object could be read.
    Healthy,
    /// The Cluster is not available, or its state is unknown.
    Unhealthy,
    /// The Cluster is available, but some objects could not be read.
    Unknown,
}

impl ClusterTree {
    /// Returns the health of the cluster, by its condition `Available` (`Ready` for contract v1beta1).
    pub fn health(&self) -> ClusterHealth {
        let holds = match &self.root.subject {
            Subject::Object(cluster) => {
                let decisive = match self.conditions {
                    ConditionSet::V1Beta2 => "Available",
                    ConditionSet::V1Beta1 => "Ready",
                };
                !cluster.is_terminating && cluster.condition(decisive).is_some_and(Condition::is_true)
            }
            _ => false,
        };
        match (holds, self.root.has_unreadable()) {
            (false, _) => ClusterHealth::Unhealthy,
            (true, true) => ClusterHealth::Unknown,
            (true, false) => ClusterHealth::Healthy,
        }
    }
}

impl TreeNode {
    pub(super) fn new(role: PartRole, subject: Subject) -> Self {
        Self { role, subject, children: Vec::new() }
    }

    pub(super) fn heading(role: PartRole, children: Vec<Self>) -> Self {
        Self { role, subject: Subject::Heading, children }
    }

    fn has_unreadable(&self) -> bool {
        matches!(self.subject, Subject::Unreadable(_)) || self.children.iter().any(Self::has_unreadable)
    }
}

impl ObjectSummary {
    /// Returns a condition by type.
    pub fn condition(&self, condition_type: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| *condition.condition_type == *condition_type)
    }
}

/// True for the kinds of Cluster API itself, false for provider kinds.
pub(super) fn is_core(role: PartRole) -> bool {
    use PartRole::{Cluster, Machine, MachineDeployment, MachineHealthCheck, MachinePool, MachineSet};
    matches!(role, Cluster | Machine | MachineDeployment | MachineSet | MachinePool | MachineHealthCheck)
}

impl UnreadableObject {
    /// Converts an error to an unreadable node.
    pub(super) fn new(key: ObjectKey, error: &ApiError) -> Self {
        match error {
            ApiError::RetriesExhausted { last, .. } => Self::new(key, last),
            ApiError::Status { reason, message, code, .. } => {
                let reason = if reason.is_empty() { format!("Status{code}") } else { reason.clone() };
                Self::with_reason(key, reason, message.clone())
            }
            ApiError::Unreachable { source, .. } => Self::with_reason(key, "NoAnswer", source.to_string()),
            ApiError::UnknownKind { .. } => {
                Self::with_reason(key, "NoSuchKind", "the server does not serve this kind")
            }
            other => Self::with_reason(key, "Unreadable", other.to_string()),
        }
    }

    /// Makes a node for a referenced object that does not exist.
    pub(super) fn missing(key: ObjectKey) -> Self {
        Self::with_reason(key, "NotFound", "it does not exist")
    }

    fn with_reason(key: ObjectKey, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Box::new(key), reason: reason.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(status: &str, is_going: bool, below: Option<Subject>) -> ClusterTree {
        let available =
            Condition { condition_type: "Available".into(), status: status.into(), ..Condition::default() };
        let cluster = ObjectSummary {
            is_terminating: is_going,
            conditions: vec![available],
            ..ObjectSummary::default()
        };
        let mut root = TreeNode::new(PartRole::Cluster, Subject::Object(Arc::new(cluster)));
        root.children.extend(below.map(|subject| TreeNode::new(PartRole::ControlPlane, subject)));
        ClusterTree { root, conditions: ConditionSet::V1Beta2 }
    }

    #[test]
    fn a_cluster_is_healthy_if_available_and_fully_read() {
        let unreadable = || Some(Subject::Unreadable(UnreadableObject::missing(ObjectKey::default())));
        assert_eq!(tree("True", false, None).health(), ClusterHealth::Healthy);
        assert_eq!(tree("True", false, Some(Subject::Heading)).health(), ClusterHealth::Healthy);
        assert_eq!(tree("True", false, unreadable()).health(), ClusterHealth::Unknown);
        assert_eq!(tree("True", true, None).health(), ClusterHealth::Unhealthy);
        assert_eq!(tree("Unknown", false, unreadable()).health(), ClusterHealth::Unhealthy);
        let older = ClusterTree { conditions: ConditionSet::V1Beta1, ..tree("True", false, None) };
        assert_eq!(older.health(), ClusterHealth::Unhealthy);
    }
}
