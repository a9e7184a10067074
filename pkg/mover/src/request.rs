use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use apply::ObjectKey;
use inventory::ManagementCluster;

/// Maximum number of discoveries while objects keep appearing or changing.
pub(crate) const MAX_DISCOVERIES: usize = 5;

/// The request for a move.
#[derive(Clone, Debug, Default)]
pub struct MoveRequest {
    /// Namespaces to move. A move names at least one; a backup without namespaces takes all.
    pub namespaces: BTreeSet<String>,
    /// The choice of Clusters.
    pub clusters: ClusterChoice,
    /// Target namespaces by source namespace. Other namespaces stay the same.
    pub namespace_map: BTreeMap<String, String>,
    /// Kinds (lower-case, or `kind.group`) whose status is copied.
    pub include_status: BTreeSet<String>,
    /// Maximum total time to wait for a temporary condition.
    pub timeout: Duration,
    /// The reaction to objects that the target stores differently than sent.
    pub on_difference: DifferencePolicy,
    /// True to replace Clusters and Secrets of the target that have other content and that no move made.
    pub overwrite: bool,
    /// True to try every object on the target as a dry run first.
    pub server_dry_run: bool,
}

/// The choice of Clusters to move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClusterChoice {
    /// All Clusters of the namespaces.
    #[default]
    All,
    /// Clusters by name or by `namespace/name`.
    Named(BTreeSet<String>),
    /// Clusters that match a label selector.
    Labelled(String),
}

/// The reaction to objects with other content on the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DifferencePolicy {
    /// Stop before the first deletion.
    #[default]
    Stop,
    /// Report the objects and continue.
    Continue,
}

/// Both clusters of a move.
#[derive(Clone, Copy, Debug)]
pub struct MoveRoute<'a> {
    /// The cluster that objects leave.
    pub source: &'a ManagementCluster,
    /// The cluster that objects move to.
    pub target: &'a ManagementCluster,
}

/// Returns the key of an object on the target, where its namespace may differ.
pub(crate) fn target_key(key: &ObjectKey, namespace_map: &BTreeMap<String, String>) -> ObjectKey {
    let namespace = namespace_map.get(&key.namespace).unwrap_or(&key.namespace);
    ObjectKey { namespace: namespace.clone(), ..key.clone() }
}

/// Returns the same cluster, with retries for as long as a move may wait.
pub(crate) fn with_retries(cluster: &ManagementCluster, timeout: Duration) -> ManagementCluster {
    let mut patient = cluster.clone();
    patient.server = patient.server.retrying_for(timeout);
    patient
}
