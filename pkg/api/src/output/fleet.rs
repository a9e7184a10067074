use schemars::JsonSchema;
use serde::Serialize;

use super::{PartCondition, ReplicaCounts};

/// Result of `get clusters`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterList {
    /// Clusters, sorted by namespace and name.
    pub clusters: Vec<ListedCluster>,
}

/// One workload cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedCluster {
    /// Namespace of the Cluster.
    pub namespace: String,
    /// Name of the Cluster.
    pub name: String,
    /// ClusterClass of the Cluster; absent without a topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Phase of the Cluster, such as `Provisioned`; empty if the Cluster reports none.
    pub phase: String,
    /// Condition `Available`, else `Ready`; absent if the Cluster has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<PartCondition>,
    /// True if the Cluster is paused.
    pub paused: bool,
    /// True if the Cluster is being deleted.
    pub deleting: bool,
    /// Kubernetes version of the topology, else of the control plane; absent if neither can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Machine counts of the control plane; absent if the Cluster reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ReplicaCounts>,
    /// Machine counts of the workers; absent if the Cluster reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<ReplicaCounts>,
    /// Creation time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}
