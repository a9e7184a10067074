use std::{collections::HashMap, sync::Arc};

use apply::ObjectKey;

use super::{
    extract::LinkedSummary,
    tree::{ObjectSummary, UnreadableObject},
};

/// A referenced object.
pub(super) type ReferenceResult = Result<Arc<ObjectSummary>, UnreadableObject>;

/// The objects of one kind that belong to a cluster.
pub(super) type ListResult = Result<Vec<LinkedSummary>, UnreadableObject>;

/// The objects of a cluster, except for those that machines refer to. Of each object, only the shown fields and the
/// owner are kept.
#[derive(Debug)]
pub(super) struct ClusterSnapshot {
    pub(super) cluster: Arc<ObjectSummary>,
    /// `None` if the Cluster has no reference.
    pub(super) infrastructure: Option<ReferenceResult>,
    /// `None` if the Cluster has no reference.
    pub(super) control_plane: Option<ControlPlaneSnapshot>,
    pub(super) machines: ListResult,
    pub(super) machine_sets: ListResult,
    pub(super) deployments: ListResult,
    pub(super) pools: ListResult,
    /// The ClusterResourceSets of the binding; `None` if they were not requested, or there is no binding.
    pub(super) resource_sets: Option<Result<Vec<ObjectKey>, UnreadableObject>>,
    /// `None` if not requested.
    pub(super) health_checks: Option<ListResult>,
}

#[derive(Debug)]
pub(super) struct ControlPlaneSnapshot {
    pub(super) object: ReferenceResult,
    /// The infrastructure template of the machines.
    pub(super) template: Option<ObjectKey>,
}

/// The objects that machines refer to.
pub(super) type ReferencedObjects = HashMap<ObjectKey, ReferenceResult>;

/// Returns the listed objects; empty after an error.
pub(super) fn listed_objects<E>(listed: &Result<Vec<LinkedSummary>, E>) -> &[LinkedSummary] {
    listed.as_ref().map_or(&[], Vec::as_slice)
}
