use schemars::JsonSchema;
use serde::Serialize;

use super::{ObjectName, StayingObject};
use crate::ProviderId;

/// Result of `backup`, `backup inspect` and `backup verify`: the content of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// Path of the file.
    pub file: String,
    /// The time when the backup began, RFC 3339.
    pub created: String,
    /// The version of capstan that made it; absent in backups of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The management cluster.
    pub source: BackupSource,
    /// True if Clusters were paused while capstan read them, so that all objects are of one moment.
    pub paused: bool,
    /// The protection of the file.
    pub encryption: BackupEncryption,
    /// The namespaces of its objects.
    pub namespaces: Vec<String>,
    /// The number of objects.
    pub objects: usize,
    /// Its Clusters, by namespace and name.
    pub clusters: Vec<BackupCluster>,
    /// Its objects by group and kind.
    pub kinds: Vec<BackupKind>,
    /// The providers that were installed.
    pub providers: Vec<BackupProvider>,
    /// Objects that belong to the Clusters and are not in the backup.
    pub left_out: Vec<StayingObject>,
    /// Objects that were not ready, in words.
    pub not_ready: Vec<String>,
    /// Older backups that `backup --keep` removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// The management cluster of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupSource {
    /// Address of its server.
    pub address: String,
    /// The uid of its namespace `kube-system`.
    pub uid: String,
}

/// The protection of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BackupEncryption {
    /// Clear text.
    None,
    /// Encrypted to public keys of age. The file does not tell whose.
    PublicKeys,
    /// Encrypted with a passphrase.
    Passphrase,
}

/// A Cluster in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupCluster {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its Kubernetes version, from its topology or its control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The number of its Machines.
    pub machines: usize,
    /// True if the user had paused it; a restore leaves it paused.
    pub paused: bool,
}

/// The objects of one kind in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupKind {
    /// Kind.
    pub kind: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Number of objects.
    pub objects: usize,
}

/// A provider that was installed when a backup was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupProvider {
    /// Type and name.
    pub provider: ProviderId,
    /// Its version.
    pub version: String,
    /// Its namespace.
    pub namespace: String,
}

/// Result of `restore`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreReport {
    /// Path of the backup.
    pub file: String,
    /// Address of the management cluster.
    pub target: String,
    /// Objects that were created.
    pub created: Vec<ObjectName>,
    /// Objects that existed and stay as they were.
    pub kept: Vec<ObjectName>,
    /// Clusters and ClusterClasses that stay paused.
    pub paused: Vec<ObjectName>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl BackupEncryption {
    /// The words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::PublicKeys => "public keys of age",
            Self::Passphrase => "passphrase",
        }
    }
}
