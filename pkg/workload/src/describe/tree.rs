use std::sync::Arc;

use api::output::PartRole;
use apply::{ApiError, ObjectKey};

use super::conditions::{Condition, ConditionSet};

/// What there is of a workload cluster: a tree with the Cluster at its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTree {
    /// The Cluster and everything below it.
    pub root: TreeNode,
    /// Which conditions were read.
    pub conditions: ConditionSet,
}

/// A place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// What it is to the cluster.
    pub role: PartRole,
    /// What is there.
    pub subject: Subject,
    /// What is below it, in the order it is shown.
    pub children: Vec<TreeNode>,
}

/// What is at a place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An object that was read.
    Object(Arc<SeenObject>),
    /// Objects of one kind whose conditions say the same.
    Group(MachineGroup),
    /// An object that is named, and not read.
    Named(ObjectKey),
    /// What is there, and cannot be read.
    Unreadable(Unreadable),
    /// Nothing but what is below it.
    Heading,
}

/// What is shown of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenObject {
    /// Which one.
    pub key: ObjectKey,
    /// In which version it was read.
    pub api_version: Arc<str>,
    /// The Kubernetes version it is to have: none where it has nothing to do with one, empty where it does not say.
    pub version: Option<Arc<str>>,
    /// Whether it was told to go.
    pub is_going: bool,
    /// How many machines it has.
    pub replicas: MachineCounts,
    /// Its conditions, in its order.
    pub conditions: Vec<Condition>,
}

/// Counts of machines, as far as they are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineCounts {
    /// How many there are to be.
    pub desired: Option<i64>,
    /// How many there are.
    pub current: Option<i64>,
    /// How many have been ready for long enough.
    pub available: Option<i64>,
    /// How many are ready.
    pub ready: Option<i64>,
    /// How many are as they are to be.
    pub up_to_date: Option<i64>,
}

/// Machines whose conditions say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineGroup {
    /// Their names, sorted.
    pub names: Vec<String>,
    /// What they say of being ready, without a message; since the first of them said so.
    pub ready: Option<Condition>,
    /// Whether they are available.
    pub are_available: bool,
    /// Whether they are as they are to be.
    pub are_up_to_date: bool,
}

/// What is there, and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What; without a name, all objects of the kind.
    pub key: Box<ObjectKey>,
    /// Why, in a word, such as `Forbidden`.
    pub reason: String,
    /// Why, in words.
    pub message: String,
}

/// How a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterHealth {
    /// It is available, is not going, and all of it could be read.
    Healthy,
    /// It is not, or does not say.
    Unhealthy,
    /// It is available, but not all of it could be read.
    Unknown,
}

impl ClusterTree {
    /// How the cluster is, by its condition `Available` (`Ready` of contract v1beta1).
    pub fn health(&self) -> ClusterHealth {
        let holds = match &self.root.subject {
            Subject::Object(cluster) => {
                let decisive = match self.conditions {
                    ConditionSet::V1Beta2 => "Available",
                    ConditionSet::V1Beta1 => "Ready",
                };
                !cluster.is_going && cluster.condition(decisive).is_some_and(Condition::is_true)
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

impl SeenObject {
    /// A condition by its type.
    pub fn condition(&self, condition_type: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| *condition.condition_type == *condition_type)
    }
}

/// True for the kinds of Cluster API itself; others are a provider's.
pub(super) fn is_core(role: PartRole) -> bool {
    use PartRole::{Cluster, Machine, MachineDeployment, MachineHealthCheck, MachinePool, MachineSet};
    matches!(role, Cluster | Machine | MachineDeployment | MachineSet | MachinePool | MachineHealthCheck)
}

impl Unreadable {
    /// What an error says about it.
    pub(super) fn new(key: ObjectKey, error: &ApiError) -> Self {
        match error {
            ApiError::OutOfTime { last, .. } => Self::new(key, last),
            ApiError::Status { reason, message, code, .. } => {
                let reason = if reason.is_empty() { format!("Status{code}") } else { reason.clone() };
                Self::because(key, reason, message.clone())
            }
            ApiError::Unreachable { source, .. } => Self::because(key, "NoAnswer", source.to_string()),
            ApiError::NoSuchKind { .. } => Self::because(key, "NoSuchKind", "the server has no such kind"),
            other => Self::because(key, "Unreadable", other.to_string()),
        }
    }

    /// Something refers to it, and it is not there.
    pub(super) fn missing(key: ObjectKey) -> Self {
        Self::because(key, "NotFound", "it is not there")
    }

    fn because(key: ObjectKey, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Box::new(key), reason: reason.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(status: &str, is_going: bool, below: Option<Subject>) -> ClusterTree {
        let available =
            Condition { condition_type: "Available".into(), status: status.into(), ..Condition::default() };
        let cluster = SeenObject { is_going, conditions: vec![available], ..SeenObject::default() };
        let mut root = TreeNode::new(PartRole::Cluster, Subject::Object(Arc::new(cluster)));
        root.children.extend(below.map(|subject| TreeNode::new(PartRole::ControlPlane, subject)));
        ClusterTree { root, conditions: ConditionSet::V1Beta2 }
    }

    #[test]
    fn a_cluster_is_healthy_when_it_is_available_and_all_of_it_was_read() {
        let unreadable = || Some(Subject::Unreadable(Unreadable::missing(ObjectKey::default())));
        assert_eq!(tree("True", false, None).health(), ClusterHealth::Healthy);
        assert_eq!(tree("True", false, Some(Subject::Heading)).health(), ClusterHealth::Healthy);
        assert_eq!(tree("True", false, unreadable()).health(), ClusterHealth::Unknown);
        assert_eq!(tree("True", true, None).health(), ClusterHealth::Unhealthy);
        assert_eq!(tree("Unknown", false, unreadable()).health(), ClusterHealth::Unhealthy);
        let older = ClusterTree { conditions: ConditionSet::V1Beta1, ..tree("True", false, None) };
        assert_eq!(older.health(), ClusterHealth::Unhealthy);
    }
}
