use schemars::JsonSchema;
use serde::Serialize;

/// Result of `describe cluster`: every object of a workload cluster as a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDescription {
    /// Name of the Cluster.
    pub name: String,
    /// Namespace of the Cluster.
    pub namespace: String,
    /// Health of the cluster.
    pub health: ClusterHealth,
    /// The Cluster, with its parts as children.
    pub tree: ClusterPart,
}

/// Health of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ClusterHealth {
    /// The Cluster is available and not being deleted, and every part could be read.
    Healthy,
    /// The Cluster is not available, does not report availability, or is being deleted.
    Unhealthy,
    /// The Cluster is available, but some parts could not be read.
    Unknown,
}

/// A part of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterPart {
    /// Role of the part in the cluster.
    pub role: PartRole,
    /// Object of the part; absent for groups of parts, such as all workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<PartObject>,
    /// State of the object; absent if the object was not read. Templates are listed but not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PartState>,
    /// Reason for a failed read; absent if the read succeeded or was not attempted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<UnreadablePart>,
    /// Parts below this part.
    pub children: Vec<ClusterPart>,
}

/// Role of a part in its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PartRole {
    /// The Cluster.
    Cluster,
    /// The infrastructure of the Cluster.
    ClusterInfrastructure,
    /// The control plane of the Cluster.
    ControlPlane,
    /// A Machine.
    Machine,
    /// The infrastructure of a Machine.
    MachineInfrastructure,
    /// A bootstrap config, which turns a machine into a node.
    BootstrapConfig,
    /// A MachineDeployment.
    MachineDeployment,
    /// A MachineSet.
    MachineSet,
    /// A MachinePool.
    MachinePool,
    /// The infrastructure of a MachinePool.
    MachinePoolInfrastructure,
    /// Group of templates.
    Templates,
    /// A template for the infrastructure of machines.
    MachineInfrastructureTemplate,
    /// A template for bootstrap configs.
    BootstrapConfigTemplate,
    /// Group of all parts outside the control plane.
    Workers,
    /// Group of machines that no other object in the tree controls.
    Other,
    /// Group of ClusterResourceSets.
    ResourceSets,
    /// An applied ClusterResourceSet.
    ResourceSet,
    /// Group of MachineHealthChecks.
    MachineHealthChecks,
    /// A MachineHealthCheck.
    MachineHealthCheck,
}

/// An object of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartObject {
    /// API group of the object.
    pub group: String,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object; absent for all objects of a kind that cannot be listed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// State of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartState {
    /// API group and version of the object as read.
    pub api_version: String,
    /// Desired Kubernetes version; absent if the object has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// True if the object is being deleted.
    pub deleting: bool,
    /// Machine counts; absent if the object reports none. For a MachineHealthCheck, `current` counts healthy machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<ReplicaCounts>,
    /// Conditions, in the order of the object.
    pub conditions: Vec<PartCondition>,
}

/// Machine counts; unreported counts are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaCounts {
    /// Desired number of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<i64>,
    /// Current number of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<i64>,
    /// Number of available machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<i64>,
    /// Number of ready machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<i64>,
    /// Number of up-to-date machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to_date: Option<i64>,
}

/// A condition of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartCondition {
    /// Type of the condition, such as `Ready`.
    #[serde(rename = "type")]
    pub condition_type: String,
    /// Status of the condition: `True`, `False` or `Unknown`.
    pub status: String,
    /// Severity of a condition that is not `True`; only conditions of contract v1beta1 have a severity.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub severity: String,
    /// Reason as one word.
    pub reason: String,
    /// Reason as text.
    pub message: String,
    /// Time of the last change, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<String>,
}

/// Reason for a failed read of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadablePart {
    /// Reason as one word: `NotFound`, `Forbidden`, `NoSuchKind`, `NoAnswer`, or the reason that the server reports.
    pub reason: String,
    /// Reason as text.
    pub message: String,
}
