use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{ObjectName, UnfinishedUpgrade, WaitingFor};
use crate::ProviderId;

/// Result of `status`: what is installed, and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// By type, then by name.
    pub providers: Vec<ProviderHealth>,
    /// What a first installation was begun with that is not finished; empty when there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished_init: Vec<UnfinishedInstallation>,
    /// An upgrade that was begun and is not finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_upgrade: Option<UnfinishedUpgrade>,
    /// A move out of the cluster or into it that is not finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_move: Option<UnfinishedMove>,
    /// The run that is writing to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseReport>,
    /// True if an unfinished upgrade or move could not be looked for; a warning says why.
    #[serde(skip_serializing_if = "is_false")]
    pub incomplete: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to what it may skip")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// An unfinished move, as the journal on the cluster tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedMove {
    /// When it began, RFC 3339.
    pub begun: String,
    /// Its phase, such as `creating`.
    pub phase: String,
    /// Address of the source cluster.
    pub source: String,
    /// Address of the target cluster.
    pub target: String,
    /// The command that completes it, run on the source.
    pub command: String,
}

/// The lease of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseReport {
    /// The run that acquired it last.
    pub holder: LeaseHolder,
    /// True if it has expired: the run was killed or cannot reach the cluster, and the next one takes over.
    pub expired: bool,
}

/// A run that writes to the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseHolder {
    /// Name of the machine.
    pub host: String,
    /// The process on it.
    pub process: String,
    /// The command, such as `upgrade apply`.
    pub command: String,
    /// Since when it holds the lease, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// A provider of a first installation that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedInstallation {
    /// Its label, such as `infrastructure-aws`.
    pub provider: String,
    /// Its version.
    pub version: String,
    /// The namespace it goes to.
    pub namespace: String,
}

/// One installed provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderHealth {
    /// Its label, such as `infrastructure-aws`.
    pub provider: String,
    /// Type and name.
    pub id: ProviderId,
    /// Its version.
    pub version: String,
    /// Its namespace.
    pub namespace: String,
    /// Whether all its objects are ready.
    pub ready: bool,
    /// Those that are not.
    pub not_ready: Vec<WaitingFor>,
    /// Whether it is recorded what was applied for it; else drift cannot be told.
    pub recorded: bool,
    /// Objects that are not as they were applied, or gone.
    pub drift: Vec<ObjectName>,
    /// Fields of these objects that are not as they were applied; only with `--diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drifted_fields: Option<Vec<DriftedObject>>,
}

/// An object that exists and is not as it was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DriftedObject {
    /// The object.
    pub object: ObjectName,
    /// Its fields that are not as they were applied.
    pub fields: Vec<DriftedField>,
}

/// A field that is not as it was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DriftedField {
    /// The way to it, such as `.spec.replicas`.
    pub path: String,
    /// The kind of change.
    pub change: DriftedFieldChange,
    /// Its value now, with sizes in place of the values of Secrets; absent if there is no such field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The field manager that owns it now; absent if nobody does. The server does not record who removes a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// The last write of that manager to any field of the object, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// The kind of change of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftedFieldChange {
    /// It has another value.
    Changed,
    /// It is gone.
    Removed,
    /// It was added under the field manager of capstan.
    Added,
    /// Another manager owns it; the applied fields are not recorded, so it may have been added beside them.
    Possible,
}
