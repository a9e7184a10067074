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
    BadChoice, Cell, ClusterHealth, ClusterNews, ClusterSummary, ClusterTree, Condition, ConditionSet,
    DescribeError, DescribeRequest, Echo, Fleet, FleetRequest, Grouping, MachineCounts, MachineGroup, Part,
    SeenObject, ShownConditions, Span, Subject, Tone, TreeNode, TreeTable, Unreadable, age, describe_cluster,
    list_clusters, watch_cluster,
};
pub use discover::{
    DiscoverError, Discovered, Scope, discover, discover_again, discover_at_rest, facts_of, says_it_rests,
    types_to_discover,
};
pub use drawing::{Drawing, Fates, NoSuchCluster, PageOrigin, draw, draw_page, owner_graph};
pub use graph::{
    Choice, ClusterFacts, ConditionFacts, Content, Excluded, Facts, Going, Graph, Included, KeptBecause,
    MoveDecision, Node, NodeId, OwnerRef, Replicas, Selection, TypeFacts,
};
pub use kubeconfig::{
    KubeconfigOf, KubeconfigRequest, WorkloadKubeconfigError, cluster_names, namespace_names,
    workload_kubeconfig,
};
pub use marks::{BLOCK_MOVE, DELETE_FOR_MOVE, MARK, PAUSED};
pub use rollout::{
    InvalidResource, ResourceRef, RolloutChange, RolloutError, RolloutProgress, RolloutResource,
    RolloutState, change_rollout, rollout_names, rollout_progress, rollout_resources, watch_rollouts,
};
