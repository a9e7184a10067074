use schemars::JsonSchema;
use serde::Serialize;

use super::StayingObject;
use crate::{ObjectKey, ProviderId};

/// Result of `backup`, `backup inspect` and `backup verify`: the content of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// Path of the file.
    pub file: String,
    /// Start time of the backup, RFC 3339.
    pub created: String,
    /// Version of capstan that made the backup; absent in backups of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The management cluster.
    pub source: BackupSource,
    /// True if Clusters were paused while capstan read them, so that all objects show the same moment.
    pub paused: bool,
    /// Encryption of the file.
    pub encryption: BackupEncryption,
    /// Namespaces of the objects in the backup.
    pub namespaces: Vec<String>,
    /// Number of objects.
    pub objects: usize,
    /// Clusters in the backup, sorted by namespace and name.
    pub clusters: Vec<BackupCluster>,
    /// Objects in the backup by group and kind.
    pub kinds: Vec<BackupKind>,
    /// Providers that were installed.
    pub providers: Vec<BackupProvider>,
    /// Objects that belong to the Clusters but are not in the backup.
    pub left_out: Vec<StayingObject>,
    /// Descriptions of objects that were not ready.
    pub not_ready: Vec<String>,
    /// Older backups that `backup --keep` removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// The management cluster of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupSource {
    /// Address of the API server.
    pub address: String,
    /// The uid of the namespace `kube-system`.
    pub uid: String,
}

/// Encryption of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BackupEncryption {
    /// Not encrypted.
    None,
    /// Encrypted with age public keys. The file does not name their owners.
    PublicKeys,
    /// Encrypted with a passphrase.
    Passphrase,
}

/// A Cluster in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupCluster {
    /// Namespace of the Cluster.
    pub namespace: String,
    /// Name of the Cluster.
    pub name: String,
    /// Kubernetes version of the topology or the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Number of Machines.
    pub machines: usize,
    /// True if the user paused the Cluster; a restore leaves it paused.
    pub paused: bool,
}

/// The objects of one kind in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupKind {
    /// Kind of the objects.
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
    /// Provider type and name.
    pub provider: ProviderId,
    /// Version of the provider.
    pub version: String,
    /// Namespace of the provider.
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
    /// Objects that the restore created.
    pub created: Vec<ObjectKey>,
    /// Objects that existed before and were not changed.
    pub kept: Vec<ObjectKey>,
    /// Clusters and ClusterClasses that stay paused.
    pub paused: Vec<ObjectKey>,
    /// Warnings of the restore.
    pub warnings: Vec<String>,
}

impl BackupEncryption {
    /// Returns the text for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::PublicKeys => "age public keys",
            Self::Passphrase => "passphrase",
        }
    }
}
