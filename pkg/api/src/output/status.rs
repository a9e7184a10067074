use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{OpenSave, UnfinishedUpgrade, WaitingFor};
use crate::{ObjectKey, ProviderId};

/// Result of `status`: installed providers and their health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// Providers, sorted by type and name.
    pub providers: Vec<ProviderHealth>,
    /// Providers of an unfinished first installation; empty if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished_init: Vec<UnfinishedInstallation>,
    /// Upgrade that was interrupted; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_upgrade: Option<UnfinishedUpgrade>,
    /// Unfinished move from or to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_move: Option<UnfinishedMove>,
    /// Saves to files that have paused Clusters and were interrupted; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished_saves: Vec<OpenSave>,
    /// Clusters and ClusterClasses that an interrupted restore has paused; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished_restore: Vec<ObjectKey>,
    /// Command that completes the interrupted restore; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore_command: Option<String>,
    /// Lease of the run that is writing to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseReport>,
    /// True if the search for an unfinished run failed; a warning gives the reason.
    #[serde(skip_serializing_if = "is_false")]
    pub incomplete: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to what it may skip")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// An unfinished move, as recorded in the journal on the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedMove {
    /// Start time, RFC 3339.
    pub begun: String,
    /// Phase of the move, such as `creating`.
    pub phase: String,
    /// Address of the source cluster.
    pub source: String,
    /// Address of the target cluster.
    pub target: String,
    /// Command that completes the move. Run it on the source cluster.
    pub command: String,
}

/// The lease of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseReport {
    /// The run that acquired the lease last.
    pub holder: LeaseHolder,
    /// True if the lease has expired: the run was killed or cannot reach the cluster. The next run takes over.
    pub expired: bool,
}

/// A run that writes to the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseHolder {
    /// Name of the machine.
    pub host: String,
    /// Process on the machine.
    pub process: String,
    /// The command, such as `upgrade apply`.
    pub command: String,
    /// Time at which the run acquired the lease, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// A provider of an unfinished first installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedInstallation {
    /// Provider label, such as `infrastructure-aws`.
    pub provider: String,
    /// Version of the provider.
    pub version: String,
    /// Target namespace of the provider.
    pub namespace: String,
}

/// One installed provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderHealth {
    /// Provider label, such as `infrastructure-aws`.
    pub provider: String,
    /// Provider type and name.
    pub id: ProviderId,
    /// Version of the provider.
    pub version: String,
    /// Namespace of the provider.
    pub namespace: String,
    /// True if every object of the provider is ready.
    pub ready: bool,
    /// Objects that are not ready.
    pub not_ready: Vec<WaitingFor>,
    /// True if the applied objects are recorded. Otherwise, drift is unknown.
    pub recorded: bool,
    /// Objects that differ from the applied state or no longer exist.
    pub drift: Vec<ObjectKey>,
    /// Fields that differ from the applied state; only with `--diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drifted_fields: Option<Vec<DriftedObject>>,
}

/// An object that exists but differs from the applied state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DriftedObject {
    /// Kind, namespace and name of the object.
    pub object: ObjectKey,
    /// Fields that differ from the applied state.
    pub fields: Vec<DriftedField>,
}

/// A field that differs from the applied state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DriftedField {
    /// Path of the field, such as `.spec.replicas`.
    pub path: String,
    /// The kind of change.
    pub change: DriftedFieldChange,
    /// Current value, with sizes instead of the values of Secrets; absent if the field does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Field manager that owns the field now; absent for none. The server does not record which manager
    /// removed a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// Time of the last write of the manager to any field of the object, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// The kind of change of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftedFieldChange {
    /// The field has a different value.
    Changed,
    /// The field was removed.
    Removed,
    /// The field was added under the field manager of capstan.
    Added,
    /// Another manager owns the field. capstan has no record of the applied fields, so the field may be an addition.
    Possible,
}
