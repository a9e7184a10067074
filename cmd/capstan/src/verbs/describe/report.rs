use api::output::{
    ClusterDescription, ClusterHealth as Health, ClusterPart, PartCondition, PartObject, PartState,
    ReplicaCounts, UnreadablePart,
};
use apply::ObjectKey;
use workload::{ClusterHealth, ClusterTree, Condition, DescribeRequest, ObjectSummary, Subject, TreeNode};

pub(super) fn report(request: &DescribeRequest, tree: &ClusterTree) -> ClusterDescription {
    ClusterDescription {
        name: request.name.clone(),
        namespace: request.namespace.clone(),
        health: match tree.health() {
            ClusterHealth::Healthy => Health::Healthy,
            ClusterHealth::Unhealthy => Health::Unhealthy,
            ClusterHealth::Unknown => Health::Unknown,
        },
        tree: part(&tree.root),
    }
}

fn part(node: &TreeNode) -> ClusterPart {
    let (object, state, unreadable) = match &node.subject {
        Subject::Object(seen) => (Some(object(&seen.key)), Some(state(seen)), None),
        Subject::Named(key) => (Some(object(key)), None, None),
        Subject::Unreadable(of) => {
            let why = UnreadablePart { reason: of.reason.clone(), message: of.message.clone() };
            (Some(object(&of.key)), None, Some(why))
        }
        // Reports for scripts do not group machines.
        Subject::Group(_) | Subject::Heading => (None, None, None),
    };
    let children = node.children.iter().map(part).collect();
    ClusterPart { role: node.role, object, state, unreadable, children }
}

fn object(key: &ObjectKey) -> PartObject {
    let ObjectKey { group, kind, namespace, name } = key.clone();
    PartObject { group, kind, namespace, name }
}

fn state(seen: &ObjectSummary) -> PartState {
    PartState {
        api_version: seen.api_version.to_string(),
        version: seen.version.as_ref().filter(|version| !version.is_empty()).map(ToString::to_string),
        deleting: seen.is_terminating,
        replicas: replica_counts(seen.replicas),
        conditions: seen.conditions.iter().map(part_condition).collect(),
    }
}

/// Returns the counts of machines. `None` if no count is known.
pub(crate) fn replica_counts(counts: ReplicaCounts) -> Option<ReplicaCounts> {
    (counts != ReplicaCounts::default()).then_some(counts)
}

pub(crate) fn part_condition(condition: &Condition) -> PartCondition {
    PartCondition {
        condition_type: condition.condition_type.to_string(),
        status: condition.status.to_string(),
        severity: condition.severity.to_string(),
        reason: condition.reason.to_string(),
        message: condition.message.to_string(),
        last_transition_time: condition.since.map(|since| since.to_string()),
    }
}
