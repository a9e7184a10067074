use std::sync::Arc;

use apply::{ApiKind, ObjectKey};

/// The facts of an object, without the object itself.
#[derive(Clone, Debug)]
pub struct ObjectFacts {
    /// The key of the object.
    pub key: ObjectKey,
    /// The kind, in the storage version of the server.
    pub object_type: Arc<TypeFacts>,
    /// The uid of the object.
    pub uid: String,
    /// The resource version of the observed object.
    pub resource_version: String,
    /// The owner references, unchanged and in their order.
    pub owners: Vec<OwnerRef>,
    /// True if the object has the label `clusterctl.cluster.x-k8s.io/move`, with any value.
    pub is_labelled_to_move: bool,
    /// True if the object has the label `clusterctl.cluster.x-k8s.io/move-hierarchy`, with any value.
    pub is_hierarchy: bool,
    /// True if a provider blocks moves: annotation `clusterctl.cluster.x-k8s.io/block-move`, with any value.
    pub blocks_move: bool,
    /// True if the object is being deleted.
    pub is_terminating: bool,
    /// True if a move was about to delete the object: annotation `clusterctl.cluster.x-k8s.io/delete-for-move`.
    pub is_deleted_for_move: bool,
    /// The run of a move that paused the object: the value of annotation `capstan.dev/move`.
    pub paused_by: Option<String>,
    /// True if the object is paused: `spec.paused` of a Cluster, or annotation `cluster.x-k8s.io/paused` with any
    /// value.
    pub is_paused: bool,
    /// True if the controller has acknowledged the pause: condition `Paused` is `True` for the current generation. None
    /// if the condition is missing or was not read.
    pub pause_acknowledged: Option<bool>,
    /// The tool that would create a deleted object again: `Argo CD`, `Flux`, `Fleet`, `Helm`.
    pub gitops_tool: Option<&'static str>,
    /// The Cluster in the label `cluster.x-k8s.io/cluster-name`. It does not affect moves.
    pub cluster_name: Option<String>,
    /// The condition `Ready` or `Available`, for drawings. None for kinds without content.
    pub condition: Option<ConditionFacts>,
    /// The additional facts of the kind.
    pub content: ContentFacts,
}

impl ObjectFacts {
    /// True if the object is being deleted, and not by a move.
    pub fn is_terminating_outside_move(&self) -> bool {
        self.is_terminating && !self.is_deleted_for_move
    }
}

/// A discovered kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFacts {
    /// The kind in its storage version.
    pub kind: ApiKind,
    /// True if the definition has the label `move`.
    pub is_labelled_to_move: bool,
    /// True for roots of hierarchies: Cluster, ClusterClass, ClusterResourceSet, or the label `move-hierarchy` on the
    /// definition.
    pub is_hierarchy: bool,
    /// True if the kind has a status subresource.
    pub has_status: bool,
    /// The provider that installed the definition, from its label: `infrastructure-docker`.
    pub provider: Option<String>,
}

impl TypeFacts {
    /// Returns a kind without labels.
    pub fn unlabelled(kind: ApiKind) -> Self {
        Self { kind, is_labelled_to_move: false, is_hierarchy: false, has_status: false, provider: None }
    }
}

/// An owner reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRef {
    /// The `group/version`, unchanged.
    pub api_version: String,
    /// The kind of the owner.
    pub kind: String,
    /// The name of the owner.
    pub name: String,
    /// The uid of the owner.
    pub uid: String,
    /// The field `controller`, unchanged.
    pub controller: Option<bool>,
    /// The field `blockOwnerDeletion`, unchanged.
    pub block_owner_deletion: Option<bool>,
}

/// A condition, for drawings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionFacts {
    /// The type: `Ready` or `Available`.
    pub kind: String,
    /// The status: `True`, `False` or `Unknown`.
    pub status: String,
    /// The reason in CamelCase.
    pub reason: String,
}

/// Facts of some kinds beyond metadata.
#[derive(Clone, Debug, Default)]
pub enum ContentFacts {
    /// No further facts.
    #[default]
    Plain,
    /// The facts of a Cluster.
    Cluster(ClusterFacts),
    /// A ClusterClass. Owner references link its templates.
    ClusterClass,
    /// The facts of a Machine.
    Machine {
        /// True if the Machine has become a node.
        has_node: bool,
    },
    /// A control plane, MachineDeployment, MachineSet or MachinePool.
    Replicas(ReplicaCounts),
    /// The facts of a ClusterResourceSetBinding.
    Binding {
        /// The Cluster of the binding.
        cluster: String,
    },
}

/// The facts of a Cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterFacts {
    /// The field `status.initialization.infrastructureProvisioned`.
    pub infrastructure_provisioned: bool,
    /// True if the condition `ControlPlaneInitialized` is True, and the status field is set if the Cluster refers to a
    /// control plane.
    pub control_plane_initialized: bool,
    /// The namespace and name of its ClusterClass.
    pub class: Option<(String, String)>,
}

/// The progress of a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaCounts {
    /// The desired number of machines.
    pub desired: i64,
    /// The current number of machines.
    pub current: i64,
    /// The number of machines of the newest template. None if the kind does not report the number.
    pub up_to_date: Option<i64>,
    /// True if the controller has seen the last change: `status.observedGeneration`.
    pub is_observed: bool,
}
