use schemars::JsonSchema;
use serde::Serialize;

use super::{PartCondition, ReplicaCounts};

/// Result of `get clusters`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterList {
    /// By namespace and name.
    pub clusters: Vec<ListedCluster>,
}

/// One workload cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedCluster {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its ClusterClass; absent without a topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its phase, such as `Provisioned`; empty if it does not say.
    pub phase: String,
    /// Its condition `Available`, else `Ready`; absent if it has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<PartCondition>,
    /// True if its controllers are told to pause.
    pub paused: bool,
    /// True if it is being deleted.
    pub deleting: bool,
    /// The Kubernetes version of its topology, else of its control plane; absent if neither can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Counts of the machines of its control plane; absent if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<ReplicaCounts>,
    /// Counts of the machines of its workers; absent if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<ReplicaCounts>,
    /// The time of its creation, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}
