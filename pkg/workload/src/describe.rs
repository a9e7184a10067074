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
mod assemble;
mod conditions;
mod fleet;
mod found;
mod group;
mod kinds;
mod paragraph;
mod read;
mod rows;
mod seen;
mod shown;
mod table;
mod take;
#[cfg(test)]
mod tests;
mod title;
mod tree;
mod watch;

use std::{collections::BTreeSet, time::Duration};

use apply::ApiError;
use inventory::{ContractError, ManagementCluster};

pub use age::age;
pub use arrange::Grouping;
pub use conditions::{Condition, ConditionSet};
pub use fleet::{ClusterSummary, Fleet, FleetRequest, list_clusters};
pub use shown::{BadChoice, ShownConditions};
pub use table::{Cell, Span, Tone, TreeTable};
pub use tree::{
    ClusterHealth, ClusterTree, MachineCounts, MachineGroup, SeenObject, Subject, TreeNode, Unreadable,
};
pub use watch::{ClusterNews, watch_cluster};

use self::{arrange::Arranging, assemble::Assembly, read::Reader, watch::Watched};

/// The time limit for a kind that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cluster to describe, and the level of detail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeRequest {
    /// The namespace of the Cluster.
    pub namespace: String,
    /// The name of the Cluster.
    pub name: String,
    /// The parts of the tree besides control plane and workers.
    pub parts: BTreeSet<Part>,
    /// The grouping of machines with equal conditions.
    pub grouping: Grouping,
    /// The treatment of objects without additional information.
    pub echo: Echo,
    /// The set of conditions to read.
    pub conditions: ConditionSet,
}

/// Optional parts of the tree, besides control plane and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// MachineSets, between MachineDeployments and Machines.
    MachineSets,
    /// ClusterResourceSets that were applied.
    ResourceSets,
    /// Machine templates.
    Templates,
    /// MachineHealthChecks.
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
    #[error("there is no cluster `{name}` in namespace `{namespace}`")]
    NoSuchCluster {
        namespace: String,
        name: String,
        /// Clusters in the namespace with similar names.
        near: Vec<String>,
        /// Other namespaces with a Cluster of this name.
        elsewhere: Vec<String>,
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
    pub fn in_full(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        let parts = [Part::MachineSets, Part::ResourceSets, Part::Templates, Part::MachineHealthChecks];
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
    let server = cluster.server.retrying_for(PATIENCE);
    Ok(read_tree(&Reader::new(&server, request), request).await?.0)
}

/// Reads a cluster. Returns the tree, and the objects to watch for changes.
async fn read_tree(
    reader: &Reader<'_>,
    request: &DescribeRequest,
) -> Result<(ClusterTree, Vec<Watched>), DescribeError> {
    let (found, contracts) = Box::pin(reader.found()).await?;
    let arranging = Arranging {
        grouping: request.grouping,
        with_sets: request.parts.contains(&Part::MachineSets),
        conditions: request.conditions,
    };
    let arrangement = arranging.arrange(&found);
    let wanted = arrangement.references();
    let watched = reader.watched(&found, &contracts, &wanted);
    let references = reader.references(&contracts, wanted).await;
    let assembly = Assembly { request, found: &found, references: &references };
    Ok((ClusterTree { root: assembly.root(arrangement), conditions: request.conditions }, watched))
}
