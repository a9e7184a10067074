//! Backups: one file with the objects of a save and a manifest that describes them.
//!
//! ```text
//! gzip( tar( objects/Kind_namespace_name.yaml …, manifest.json ) )          or the same, encrypted: `encryption`
//! ```
//!
//! - Objects have the same form as in a directory. After `tar xzf`, clusterctl can restore the directory `objects` too.
//! - The manifest comes last, because it holds the checksum of every file. A truncated archive has no manifest.
//! - Writing and reading take one pass each. Besides a buffer, memory holds an index: a name and a checksum per object.
//! - Reading trusts nothing. No object leaves this module before the whole archive is read, its shape is checked and
//!   every checksum matches.

mod contents;
mod encryption;
mod error;
mod read;
mod tar;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeSet;

use api::ProviderId;
use apply::ObjectKey;
use data_encoding::HEXLOWER;
use inventory::{ClusterIdentity, ManagementCluster};
use provider::InstalledProvider;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use workload::TypeFacts;

use crate::{LeftOutObject, MoveError, MovePlan, SaveMode, plan::identity};

pub use contents::BackupContents;
pub use encryption::{
    ArchiveInput, ArchiveKeys, ArchiveOutput, EncryptedOutput, Encryption, Identity, KeyError, KeyFileError,
    Passphrase, Recipient,
};
pub use error::{ArchiveError, RequiredKey};
pub use read::{Backup, read_archive, verify_archive};
pub use write::ArchiveWriter;

const MANIFEST_FILE: &str = "manifest.json";
const OBJECTS_FOLDER: &str = "objects/";

/// The manifest of a backup: its file `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupManifest {
    /// The format number: [`BackupManifest::FORMAT`], or another number in backups of other releases.
    pub format: u32,
    /// The origin of the backup.
    #[serde(rename = "of")]
    pub origin: BackupOrigin,
    /// All objects, owners before their dependents.
    pub objects: Vec<BackupObject>,
    /// Related objects that the backup does not contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutObject>,
}

/// The origin of a backup: cluster, time, program and providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupOrigin {
    /// Start time of the backup, RFC 3339.
    pub created: String,
    /// Version of the program that made the backup; none in older backups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The management cluster of the objects.
    pub source: ClusterIdentity,
    /// Namespaces of the objects.
    pub namespaces: BTreeSet<String>,
    /// True if Clusters were paused during the backup.
    pub at_rest: bool,
    /// Providers that were installed on the source.
    pub providers: Vec<BackupProvider>,
    /// Objects that were not ready, in words: `there is no node yet: Machine team/one`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An installed provider of the source cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupProvider {
    /// Provider type and name.
    pub provider: ProviderId,
    /// Installed version, such as `v1.14.0`.
    pub version: String,
    /// Namespace of the provider.
    pub namespace: String,
    /// Kinds that the provider defines, as `UnsupportedKind.group`. If empty, any object may need the provider.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub kinds: BTreeSet<String>,
}

/// An object of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupObject {
    /// File name below `objects`.
    pub file: String,
    /// SHA-256 of the file, as 64 hexadecimal digits.
    pub sha256: String,
    /// Object key on the source.
    pub object: ObjectKey,
    /// Object uid on the source.
    pub uid: String,
    /// Uids of the owners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// True if the user had paused the object. A restore keeps the pause.
    #[serde(default)]
    pub paused: bool,
}

/// The manifest and the statistics of a backup, without its objects.
#[derive(Clone, Debug)]
pub struct BackupIndex {
    /// The file `manifest.json`.
    pub manifest: BackupManifest,
    /// Statistics of the objects.
    pub contents: BackupContents,
}

impl BackupManifest {
    /// The format that this program writes and reads.
    pub const FORMAT: u32 = 1;

    /// Returns the Clusters and ClusterClasses that the user had paused.
    pub(super) fn paused(&self) -> BTreeSet<ObjectKey> {
        self.objects.iter().filter(|one| one.paused).map(|one| one.object.clone()).collect()
    }
}

impl BackupOrigin {
    /// Describes the backup that a plan leads to.
    /// # Errors
    /// Fails if the cluster cannot be identified.
    pub async fn describe(
        source: &ManagementCluster,
        plan: &MovePlan,
        rest: SaveMode,
        made_by: &str,
    ) -> Result<Self, MoveError> {
        let types = &plan.discovered.types;
        let namespaces = plan.selection.moving().map(|node| plan.facts(node).key.namespace.clone());
        Ok(Self {
            created: format!("{:.0}", jiff::Timestamp::now()),
            made_by: Some(made_by.to_owned()),
            source: identity(source, super::MoveSide::Source).await?,
            namespaces: namespaces.filter(|name| !name.is_empty()).collect(),
            at_rest: rest == SaveMode::Paused,
            providers: plan
                .discovered
                .inventory
                .providers
                .iter()
                .map(|one| BackupProvider::of(one, types.iter().map(|of| &**of)))
                .collect(),
            notes: plan.unready(),
        })
    }
}

impl BackupProvider {
    fn of<'t>(installed: &InstalledProvider, types: impl Iterator<Item = &'t TypeFacts>) -> Self {
        let label = installed.id.label();
        let own = types.filter(|of| of.provider.as_ref() == Some(&label));
        Self {
            provider: installed.id.clone(),
            version: installed.version.clone(),
            namespace: installed.namespace.clone(),
            kinds: own.map(|of| of.kind.group_kind().to_string()).collect(),
        }
    }
}

fn sha256_hex(content: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(content))
}
