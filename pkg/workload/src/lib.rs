//! The objects of Cluster API on a management cluster: owners, and the objects of each workload cluster.
//!
//! ```text
//! ManagementCluster ─► discover ─► Facts ─► Graph (owners) ─► Selection: decisions, with reasons ─► groups
//!        │                                    └─► drawing
//!        └── describe, rollout, kubeconfig: objects of one Cluster, kind by kind
//! ```
//!
//! ```
//! use support::{cluster_api, fixture::Fixture};
//! use workload::{ClusterOverviewRequest, list_clusters};
//! # use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
//! # use inventory::ManagementCluster;
//! # async fn connect(sandbox: &support::fixture::Fixture) -> ManagementCluster {
//! #     let connection = ConnectionOptions::of_client(sandbox.client(), "example/1.0");
//! #     ManagementCluster::new(Server::connect(connection, ServerOptions::default()).await.unwrap(), EventSink::none())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//!
//! let sandbox = Fixture::start().await;
//! cluster_api::install(&sandbox).await;
//! sandbox.create(cluster_api::cluster("team/demo").control_plane(1)).await;
//!
//! let cluster = connect(&sandbox).await;
//! let request = ClusterOverviewRequest { namespace: Some("team".to_owned()), labels: String::new() };
//! let overview = list_clusters(&cluster, &request).await.unwrap();
//! assert_eq!(overview.clusters[0].name, "demo");
//! # });
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
mod testing;

pub use describe::{
    Cell, ClusterEvent, ClusterHealth, ClusterOverview, ClusterOverviewRequest, ClusterSummary, ClusterTree,
    Condition, ConditionChoiceError, ConditionSet, DescribeError, DescribeRequest, Echo, Grouping,
    MachineGroup, ObjectSummary, OptionalPart, ShownConditions, Span, Subject, Tone, TreeNode, TreeTable,
    UnreadableObject, describe_cluster, format_age, list_clusters, watch_cluster,
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
    ResourceRef, ResourceRefError, RolloutChange, RolloutError, RolloutResource, change_rollout,
    rollout_names, rollout_progress, rollout_resources, watch_rollouts,
};
