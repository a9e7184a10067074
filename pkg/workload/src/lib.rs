//! The objects of Cluster API on a management cluster: owners, and the objects of each workload cluster.
//!
//! ```text
//! ManagementCluster ─► discover ─► Facts ─► Graph (owners) ─► Selection: decisions, with reasons ─► groups
//!        │                                    └─► drawing
//!        └── describe, rollout, kubeconfig: objects of one Cluster, kind by kind
//! ```
//!
//! May touch the cluster through `apply`. Writes nothing but the changes of rollouts. Deliberately absent: HTTP,
//! Kubernetes clients, files, the environment, printing.

mod describe;
mod discover;
mod drawing;
mod graph;
mod hints;
mod kubeconfig;
mod marks;
mod rollout;
#[cfg(test)]
mod tests;

pub use describe::{
    Cell, ClusterEvent, ClusterHealth, ClusterOverview, ClusterOverviewRequest, ClusterSummary, ClusterTree,
    Condition, ConditionChoiceError, ConditionSet, DescribeError, DescribeRequest, Echo, Grouping,
    MachineCounts, MachineGroup, ObjectSummary, OptionalPart, ShownConditions, Span, Subject, Tone, TreeNode,
    TreeTable, UnreadableObject, describe_cluster, format_age, list_clusters, watch_cluster,
};
pub use discover::{
    DiscoverError, Discovery, Scope, discover, facts_of, pause_acknowledged, rediscover,
    rediscover_with_pause_status, types_to_discover,
};
pub use drawing::{DrawingFormat, MoveAnnotations, PageOrigin, UnknownCluster, draw, draw_page, owner_graph};
pub use graph::{
    ClusterFacts, ConditionFacts, ContentFacts, ExcludeReason, Graph, IncludeReason, KeepReason, MoveChoice,
    MoveDecision, Node, NodeId, ObjectFacts, OwnerRef, ReplicaCounts, Selection, TerminatingPolicy,
    TypeFacts,
};
pub use kubeconfig::{
    KubeconfigRequest, KubeconfigUser, WorkloadKubeconfigError, cluster_names, namespace_names,
    workload_kubeconfig,
};
pub use marks::{BLOCK_MOVE, DELETE_FOR_MOVE, MOVE_MARK, PAUSED_ANNOTATION};
pub use rollout::{
    ResourceRef, ResourceRefError, RolloutChange, RolloutError, RolloutProgress, RolloutResource,
    RolloutState, change_rollout, rollout_names, rollout_progress, rollout_resources, watch_rollouts,
};
