use std::{collections::HashMap, sync::Arc};

use apply::ObjectKey;

use super::{
    take::Taken,
    tree::{SeenObject, Unreadable},
};

/// An object that something refers to.
pub(super) type Referred = Result<Arc<SeenObject>, Unreadable>;

/// The objects of a kind that belong to a cluster.
pub(super) type Listed = Result<Vec<Taken>, Unreadable>;

/// What was read of a cluster, but for what its machines refer to. Of no object more is held than what is shown of it, and
/// to whom it belongs.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cluster: Arc<SeenObject>,
    /// None when the Cluster refers to none.
    pub(super) infrastructure: Option<Referred>,
    /// None when the Cluster refers to none.
    pub(super) control_plane: Option<FoundControlPlane>,
    pub(super) machines: Listed,
    pub(super) machine_sets: Listed,
    pub(super) deployments: Listed,
    pub(super) pools: Listed,
    /// The ClusterResourceSets that a binding names; none when they were not asked for, or there is no binding.
    pub(super) resource_sets: Option<Result<Vec<ObjectKey>, Unreadable>>,
    /// None when they were not asked for.
    pub(super) health_checks: Option<Listed>,
}

/// A control plane.
#[derive(Debug)]
pub(super) struct FoundControlPlane {
    pub(super) object: Referred,
    /// The template of the infrastructure of its machines.
    pub(super) template: Option<ObjectKey>,
}

/// What machines refer to.
pub(super) type References = HashMap<ObjectKey, Referred>;

/// What was listed; nothing where that could not be done.
pub(super) fn listed<E>(listed: &Result<Vec<Taken>, E>) -> &[Taken] {
    listed.as_ref().map_or(&[], Vec::as_slice)
}
