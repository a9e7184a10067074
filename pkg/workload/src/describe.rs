//! Describes a workload cluster as a tree of its objects.
//!
//! ```text
//! concurrent lists ─► Found ─► Arrangement (owners, groups) ─► references of the shown machines
//!                                         │                             │
//!        ClusterTree ◄── assembly (echo, templates, order) ◄────────────┘
//!             └─► table (v1beta2 or v1beta1), health
//! ```
//!
//! Only reading is asynchronous; all other steps are pure. An unreadable object stays in the tree, with the reason.

mod age;
mod arrange;
mod cluster_overview;
mod conditions;
mod extract;
mod group;
mod kinds;
mod read;
mod rows;
mod shown_conditions;
mod snapshot;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod title;
mod tree;
mod tree_builder;
mod watch;
mod wrap;

use std::{collections::BTreeSet, time::Duration};

use apply::ApiError;
use inventory::{ContractError, ManagementCluster};

pub use age::format_age;
pub use arrange::Grouping;
pub use cluster_overview::{ClusterOverview, ClusterOverviewRequest, ClusterSummary, list_clusters};
pub use conditions::{Condition, ConditionSet};
pub use shown_conditions::{ConditionChoiceError, ShownConditions};
pub use table::{Cell, Span, Tone, TreeTable};
pub use tree::{
    ClusterHealth, ClusterTree, MachineGroup, ObjectSummary, Subject, TreeNode, UnreadableObject,
};
pub use watch::{ClusterEvent, watch_cluster};

use self::{arrange::ArrangeOptions, read::ClusterReader, tree_builder::TreeBuilder, watch::WatchTarget};

/// The time limit for a kind that does not answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The cluster to describe, and the level of detail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeRequest {
    /// The namespace of the Cluster.
    pub namespace: String,
    /// The name of the Cluster.
    pub name: String,
    /// The parts of the tree besides control plane and workers.
    pub parts: BTreeSet<OptionalPart>,
    /// The grouping of machines with equal conditions.
    pub grouping: Grouping,
    /// The treatment of objects without additional information.
    pub echo: Echo,
    /// The set of conditions to read.
    pub conditions: ConditionSet,
}

/// Optional parts of the tree, besides control plane and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionalPart {
    /// MachineSets, between MachineDeployments and Machines.
    MachineSets,
    /// ClusterResourceSets that were applied.
    ResourceSets,
    /// Templates of the Machines.
    Templates,
    /// MachineHealthChecks of the cluster.
    MachineHealthChecks,
}

/// The treatment of infrastructure objects and bootstrap configs that are ready, or repeat the condition of their
/// Machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// The tree omits them.
    #[default]
    Hidden,
    /// The tree contains them.
    Shown,
}

/// A cluster that cannot be described.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// The Cluster does not exist.
    #[error("cluster `{name}` does not exist in namespace `{namespace}`")]
    UnknownCluster {
        namespace: String,
        name: String,
        /// Clusters in the namespace with similar names.
        suggestions: Vec<String>,
        /// Other namespaces with a Cluster of this name.
        other_namespaces: Vec<String>,
    },
    /// The server has no Cluster API, or an unsupported contract.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The Cluster itself, or the discovery of the server, cannot be read.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl DescribeRequest {
    /// Requests a complete description: no grouping, nothing omitted.
    pub fn full(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        let parts = [
            OptionalPart::MachineSets,
            OptionalPart::ResourceSets,
            OptionalPart::Templates,
            OptionalPart::MachineHealthChecks,
        ];
        Self {
            namespace: namespace.into(),
            name: name.into(),
            parts: parts.into(),
            grouping: Grouping::None,
            echo: Echo::Shown,
            conditions: ConditionSet::default(),
        }
    }
}

/// Describes a cluster. Lists objects kind by kind, so the number of requests depends on kinds and pages, not on
/// machines. Writes nothing.
/// # Errors
/// The Cluster does not exist or cannot be read. Any other unreadable object is a node of the tree.
pub async fn describe_cluster(
    cluster: &ManagementCluster,
    request: &DescribeRequest,
) -> Result<ClusterTree, DescribeError> {
    let server = cluster.server.retrying_for(REQUEST_TIMEOUT);
    Ok(read_tree(&ClusterReader::new(&server, request), request).await?.0)
}

/// Reads a cluster. Returns the tree, and the objects to watch for changes.
async fn read_tree(
    reader: &ClusterReader<'_>,
    request: &DescribeRequest,
) -> Result<(ClusterTree, Vec<WatchTarget>), DescribeError> {
    let (snapshot, contracts) = Box::pin(reader.read_snapshot()).await?;
    let arranging = ArrangeOptions {
        grouping: request.grouping,
        with_sets: request.parts.contains(&OptionalPart::MachineSets),
        conditions: request.conditions,
    };
    let arrangement = arranging.arrange(&snapshot);
    let wanted = arrangement.references();
    let watched = reader.watch_targets(&snapshot, &contracts, &wanted);
    let references = reader.read_references(&contracts, wanted).await;
    let assembly = TreeBuilder { request, snapshot: &snapshot, references: &references };
    Ok((ClusterTree { root: assembly.build(arrangement), conditions: request.conditions }, watched))
}
