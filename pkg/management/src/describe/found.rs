use std::collections::HashMap;

use api::Contract;
use apply::ObjectKey;
use manifest::Object;

use super::tree::Unreadable;

/// An object that something refers to.
pub(super) type Referred = Result<Object, Unreadable>;

/// The objects of a kind that belong to a cluster.
pub(super) type Listed = Result<Vec<Object>, Unreadable>;

/// What was read of a cluster, but for what its machines refer to.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cluster: Object,
    /// None when the Cluster refers to none.
    pub(super) infrastructure: Option<Referred>,
    /// None when the Cluster refers to none.
    pub(super) control_plane: Option<FoundControlPlane>,
    pub(super) machines: Listed,
    pub(super) machine_sets: Listed,
    pub(super) deployments: Listed,
    pub(super) pools: Listed,
    /// The ClusterResourceSetBinding; none when it was not asked for, or is not there.
    pub(super) binding: Option<Referred>,
    /// None when they were not asked for.
    pub(super) health_checks: Option<Listed>,
}

/// A control plane.
#[derive(Debug)]
pub(super) struct FoundControlPlane {
    pub(super) object: Referred,
    /// The contract it keeps.
    pub(super) contract: Contract,
}

/// What machines refer to.
pub(super) type References = HashMap<ObjectKey, Referred>;
