use schemars::JsonSchema;
use serde::Serialize;

/// Result of `describe cluster`: everything there is of a workload cluster, each object for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDescription {
    /// The name of the Cluster.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// How it is.
    pub health: ClusterHealth,
    /// The Cluster, with what belongs to it below.
    pub tree: ClusterPart,
}

/// How a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ClusterHealth {
    /// It is available and not being deleted, and all of it could be read.
    Healthy,
    /// It is not available, does not say so, or is being deleted.
    Unhealthy,
    /// It is available, and not all of it could be read.
    Unknown,
}

/// A part of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterPart {
    /// What it is to the cluster.
    pub role: PartRole,
    /// Which object; absent for what only holds others together, such as all workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<PartObject>,
    /// What was read of the object; absent where nothing was: templates are named and not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PartState>,
    /// Why it could not be read; absent where it was not tried, and where it could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<UnreadablePart>,
    /// What belongs to it.
    pub children: Vec<ClusterPart>,
}

/// What a part is to its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PartRole {
    /// The Cluster.
    Cluster,
    /// Its infrastructure.
    ClusterInfrastructure,
    /// Its control plane.
    ControlPlane,
    /// A Machine.
    Machine,
    /// The infrastructure of a Machine.
    MachineInfrastructure,
    /// What makes machines nodes.
    BootstrapConfig,
    /// A MachineDeployment.
    MachineDeployment,
    /// A MachineSet.
    MachineSet,
    /// A MachinePool.
    MachinePool,
    /// The infrastructure of a MachinePool.
    MachinePoolInfrastructure,
    /// Holds templates.
    Templates,
    /// A template of the infrastructure of machines.
    MachineInfrastructureTemplate,
    /// A template of bootstrap configs.
    BootstrapConfigTemplate,
    /// Holds everything that is no control plane.
    Workers,
    /// Holds machines that nothing else in the tree controls.
    Other,
    /// Holds ClusterResourceSets.
    ResourceSets,
    /// A ClusterResourceSet that was applied.
    ResourceSet,
    /// Holds MachineHealthChecks.
    MachineHealthChecks,
    /// A MachineHealthCheck.
    MachineHealthCheck,
}

/// An object of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartObject {
    /// The API group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name; absent for all objects of a kind that cannot be listed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What was read of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartState {
    /// The version of the API it was read in, with its group.
    pub api_version: String,
    /// The Kubernetes version it is to have; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Counts of its machines; of a MachineHealthCheck `current` counts healthy ones. Absent where nothing is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<ReplicaCounts>,
    /// Its conditions, in its order.
    pub conditions: Vec<PartCondition>,
}

/// Counts of machines; those that are not told are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaCounts {
    /// How many there are to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<i64>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<i64>,
    /// How many are available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<i64>,
    /// How many are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<i64>,
    /// How many are as they are to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_date: Option<i64>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartCondition {
    /// Its type, such as `Ready`.
    #[serde(rename = "type")]
    pub condition_type: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// How bad it is that it does not hold; only conditions of contract v1beta1 have it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub severity: String,
    /// Why, in a word.
    pub reason: String,
    /// Why, in words.
    pub message: String,
    /// When it last changed, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<String>,
}

/// Why a part could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadablePart {
    /// In a word: `NotFound`, `Forbidden`, `NoSuchKind`, `NoAnswer`, or what the server says.
    pub reason: String,
    /// In words.
    pub message: String,
}
