//! What there is of a workload cluster, as a tree.
//!
//! ```text
//! lists, side by side ─► Found ─► Arrangement (who stands below whom, groups) ─► what shown machines refer to
//!                                                         │                                  │
//!                        ClusterTree ◄── assembly (echo, templates, order) ◄─────────────────┘
//!                             └─► table (v1beta2 or v1beta1), health
//! ```
//!
//! Only reading waits; the rest is pure. What cannot be read stands in the tree with the reason.

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

/// How long a kind that does not answer holds everything up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which cluster is described, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribeRequest {
    /// The namespace of the Cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What is in the tree beside control plane and workers.
    pub parts: BTreeSet<Part>,
    /// Whether machines that say the same are one.
    pub grouping: Grouping,
    /// What becomes of objects that say nothing new.
    pub echo: Echo,
    /// Which conditions count.
    pub conditions: ConditionSet,
}

/// What can be in a tree beside control plane and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// MachineSets, between MachineDeployments and Machines.
    MachineSets,
    /// The ClusterResourceSets that were applied.
    ResourceSets,
    /// Templates of machines.
    Templates,
    /// MachineHealthChecks.
    MachineHealthChecks,
}

/// What becomes of infrastructure and bootstrap configs that are ready, or say what their Machine says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// They are left out.
    #[default]
    Hidden,
    /// They are shown.
    Shown,
}

/// Why there is nothing to describe.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// There is no such Cluster.
    #[error("there is no cluster `{name}` in namespace `{namespace}`")]
    NoSuchCluster {
        /// Where it was looked for.
        namespace: String,
        /// Its name.
        name: String,
        /// Clusters there with almost this name.
        near: Vec<String>,
        /// Other namespaces that have a cluster of this name.
        elsewhere: Vec<String>,
    },
    /// No Cluster API, or another one.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The Cluster itself, or what the server serves, cannot be read.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl DescribeRequest {
    /// A cluster with everything there is of it: each object for itself, and nothing left out.
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

/// Describes a cluster. Nothing is written. Objects are listed kind by kind: the number of requests depends on kinds
/// and pages, not on machines.
/// # Errors
/// When there is no such cluster, or the Cluster itself cannot be read; everything else that cannot be read is told in
/// the tree.
pub async fn describe_cluster(
    cluster: &ManagementCluster,
    request: &DescribeRequest,
) -> Result<ClusterTree, DescribeError> {
    let server = cluster.server.retrying_for(PATIENCE);
    Ok(read_tree(&Reader::new(&server, request), request).await?.0)
}

/// Reads a cluster. Beside its tree comes what has to be watched to see that it changes.
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
