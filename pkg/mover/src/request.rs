use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use apply::ObjectKey;
use inventory::ManagementCluster;

/// How often it is looked for what was made or changed meanwhile before that counts as trouble.
pub(crate) const ROUNDS: usize = 5;

/// What a move is asked for.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// Out of these namespaces. A move names at least one; a backup without any takes all.
    pub namespaces: BTreeSet<String>,
    /// Which Clusters.
    pub clusters: ClusterChoice,
    /// Where objects of a namespace go; what is not named keeps its namespace.
    pub namespace_map: BTreeMap<String, String>,
    /// Kinds (lower-case, or `kind.group`) whose status is taken along.
    pub include_status: BTreeSet<String>,
    /// For how long something is waited for that may pass, in all.
    pub timeout: Duration,
    /// Whether objects the target keeps in another way than they were sent stop the move before the first deletion.
    pub on_difference: OnDifference,
    /// Replaces Clusters and Secrets of the target that no move made and that have other content.
    pub overwrite: bool,
    /// Whether every object is tried on the target as a dry run first.
    pub thorough: bool,
}

/// Which Clusters are moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClusterChoice {
    /// All of the namespaces.
    #[default]
    All,
    /// These, by name or `namespace/name`.
    Named(BTreeSet<String>),
    /// Those with these labels: a selector.
    Labelled(String),
}

/// What to do about objects whose content is another on the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// Stop before anything is deleted.
    #[default]
    Stop,
    /// Tell and go on.
    GoOn,
}

/// Both ends of a move.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// Where objects are.
    pub source: &'a ManagementCluster,
    /// Where they go.
    pub target: &'a ManagementCluster,
}

/// The key of an object on the target: its namespace may be another there.
pub(crate) fn on_target(key: &ObjectKey, namespace_map: &BTreeMap<String, String>) -> ObjectKey {
    let namespace = namespace_map.get(&key.namespace).unwrap_or(&key.namespace);
    ObjectKey { namespace: namespace.clone(), ..key.clone() }
}

/// The same cluster, asked again for as long as a move may wait.
pub(crate) fn patient(cluster: &ManagementCluster, time: Duration) -> ManagementCluster {
    let mut patient = cluster.clone();
    patient.server = patient.server.retrying_for(time);
    patient
}
