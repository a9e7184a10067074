use std::sync::Arc;

use apply::{ApiKind, ObjectKey};

/// What is known of an object without holding it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Which object.
    pub key: ObjectKey,
    /// Its kind, in the version the server stores it in.
    pub of: Arc<TypeFacts>,
    /// Its uid.
    pub uid: String,
    /// Its version when it was seen.
    pub resource_version: String,
    /// Its owner references as they are written, in their order.
    pub owners: Vec<OwnerRef>,
    /// Whether it carries the label `clusterctl.cluster.x-k8s.io/move`, whatever the value.
    pub is_to_move: bool,
    /// Whether it carries the label `clusterctl.cluster.x-k8s.io/move-hierarchy`, whatever the value.
    pub is_hierarchy: bool,
    /// Whether a provider holds moves up: annotation `clusterctl.cluster.x-k8s.io/block-move`, whatever the value.
    pub blocks_move: bool,
    /// Whether it is being deleted.
    pub is_going: bool,
    /// Whether a move was about to delete it: annotation `clusterctl.cluster.x-k8s.io/delete-for-move`.
    pub is_deleted_for_move: bool,
    /// The run of a move that paused it: the value of annotation `capstan.dev/move`.
    pub paused_by: Option<String>,
    /// Whether it is paused: `spec.paused` of a Cluster, or annotation `cluster.x-k8s.io/paused`, whatever the value.
    pub is_paused: bool,
    /// Whether its controller has said that it rests: condition `Paused`, `True` and not of an older generation. None where
    /// nothing is said of it, or was read.
    pub says_it_rests: Option<bool>,
    /// Tools that would write it again when it is gone, by name: `Argo CD`, `Flux`, `Fleet`, `Helm`.
    pub gitops: Option<&'static str>,
    /// The Cluster it says it is of: label `cluster.x-k8s.io/cluster-name`. Has no say in what moves.
    pub cluster_name: Option<String>,
    /// Its `Ready` or `Available` condition, for drawings; none for kinds without content.
    pub condition: Option<ConditionFacts>,
    /// What its kind adds.
    pub content: Content,
}

impl Facts {
    /// Whether it is being deleted, by something else than a move that was about to delete it.
    pub fn is_just_going(&self) -> bool {
        self.is_going && !self.is_deleted_for_move
    }
}

/// A kind of objects that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFacts {
    /// The kind in the version its objects are stored in.
    pub kind: ApiKind,
    /// Label `move` on the definition.
    pub is_to_move: bool,
    /// Root of a hierarchy: Cluster, ClusterClass, ClusterResourceSet, or label `move-hierarchy` on the definition.
    pub is_hierarchy: bool,
    /// Whether it has status as a subresource.
    pub has_status: bool,
    /// The provider that installed the definition, by its label: `infrastructure-docker`.
    pub provider: Option<String>,
}

impl TypeFacts {
    /// A kind without labels.
    pub fn plain(kind: ApiKind) -> Self {
        Self { kind, is_to_move: false, is_hierarchy: false, has_status: false, provider: None }
    }
}

/// An owner reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRef {
    /// `group/version`, as written.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// `controller`, as written.
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`, as written.
    pub block_owner_deletion: Option<bool>,
}

/// A condition, for drawings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionFacts {
    /// `Ready`, `Available`.
    pub kind: String,
    /// `True`, `False`, `Unknown`.
    pub status: String,
    /// The reason.
    pub reason: String,
}

/// What some kinds say beyond metadata.
#[derive(Clone, Debug, Default)]
pub enum Content {
    /// Nothing that matters.
    #[default]
    Plain,
    /// A Cluster.
    Cluster(ClusterFacts),
    /// A ClusterClass; the templates it names belong to it by owner references.
    ClusterClass,
    /// A Machine.
    Machine {
        /// Whether it has become a node.
        has_node: bool,
    },
    /// A control plane, MachineDeployment, MachineSet or MachinePool.
    Replicas(Replicas),
    /// A ClusterResourceSetBinding.
    Binding {
        /// The Cluster it is about.
        cluster: String,
    },
}

/// A Cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterFacts {
    /// `status.initialization.infrastructureProvisioned`.
    pub infrastructure_provisioned: bool,
    /// Condition `ControlPlaneInitialized`, and the field of status where it refers to a control plane.
    pub control_plane_initialized: bool,
    /// Namespace and name of its ClusterClass.
    pub class: Option<(String, String)>,
    /// Its labels, to be chosen by.
    pub labels: Vec<(String, String)>,
}

/// How far a roll-out is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicas {
    /// Wanted.
    pub desired: i64,
    /// There.
    pub current: i64,
    /// Of the newest template; none where the kind does not tell.
    pub up_to_date: Option<i64>,
    /// Whether the controller has seen the last change: `status.observedGeneration`.
    pub is_observed: bool,
}
