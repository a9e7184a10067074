use std::{collections::HashMap, sync::Arc};

use apply::ObjectKey;

use super::{
    take::Taken,
    tree::{SeenObject, Unreadable},
};

/// A referenced object.
pub(super) type Referred = Result<Arc<SeenObject>, Unreadable>;

/// The objects of one kind that belong to a cluster.
pub(super) type Listed = Result<Vec<Taken>, Unreadable>;

/// The objects of a cluster, except for those that machines refer to. Of each object, only the shown fields and the
/// owner are kept.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cluster: Arc<SeenObject>,
    /// `None` if the Cluster has no reference.
    pub(super) infrastructure: Option<Referred>,
    /// `None` if the Cluster has no reference.
    pub(super) control_plane: Option<FoundControlPlane>,
    pub(super) machines: Listed,
    pub(super) machine_sets: Listed,
    pub(super) deployments: Listed,
    pub(super) pools: Listed,
    /// The ClusterResourceSets of the binding; `None` if they were not requested, or there is no binding.
    pub(super) resource_sets: Option<Result<Vec<ObjectKey>, Unreadable>>,
    /// `None` if not requested.
    pub(super) health_checks: Option<Listed>,
}

#[derive(Debug)]
pub(super) struct FoundControlPlane {
    pub(super) object: Referred,
    /// The infrastructure template of the machines.
    pub(super) template: Option<ObjectKey>,
}

/// The objects that machines refer to.
pub(super) type References = HashMap<ObjectKey, Referred>;

/// Returns the listed objects; empty after an error.
pub(super) fn listed<E>(listed: &Result<Vec<Taken>, E>) -> &[Taken] {
    listed.as_ref().map_or(&[], Vec::as_slice)
}
