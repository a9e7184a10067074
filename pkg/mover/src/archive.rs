//! Backups: one file that holds what a save has read, and says of itself what it holds.
//!
//! ```text
//! gzip( tar( objects/Kind_namespace_name.yaml …, manifest.json ) )          or that, sealed: `seal`
//! ```
//!
//! - Objects are as in a directory: unpacked with `tar xzf`, `objects` can be restored by the peer as well.
//! - The manifest comes last, as it holds the sum of every file: an archive that was cut off has none.
//! - One pass writes and one pass reads. What is held beside a buffer is an index: a name and a sum for each object.
//! - Reading trusts nothing: nothing leaves this module before all of the archive was read, has the shape this module writes,
//!   and every sum was found right.

mod contents;
mod error;
mod read;
mod seal;
mod tar;
#[cfg(test)]
mod tests;
mod write;

use std::{collections::BTreeSet, fmt::Write as _};

use api::ProviderId;
use apply::ObjectKey;
use inventory::{ClusterIdentity, ManagementCluster};
use provider::InstalledProvider;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use workload::TypeFacts;

use crate::{LeftOut, MoveError, MovePlan, SaveRest, plan::identity};

pub use contents::BackupContents;
pub use error::{ArchiveError, ArchiveLock};
pub use read::{Backup, read_archive, verify_archive};
pub use seal::{
    ArchiveInput, ArchiveKeys, ArchiveOutput, Identity, KeyError, KeyFileError, Passphrase, Recipient, Seal,
    SealedOutput,
};
pub use write::ArchiveWriter;

const MANIFEST: &str = "manifest.json";
const OBJECTS: &str = "objects/";

/// What a backup says of itself: the file `manifest.json` in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupManifest {
    /// [`BackupManifest::FORMAT`]; another number is of another release.
    pub format: u32,
    /// What it was made of.
    #[serde(rename = "of")]
    pub about: BackupAbout,
    /// Every object, owners before what they own.
    pub objects: Vec<BackupObject>,
    /// What belongs to them and is not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// What a backup was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupAbout {
    /// The time when it began, RFC 3339.
    pub created: String,
    /// The version of the program that made it; backups of before have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The management cluster.
    pub source: ClusterIdentity,
    /// The namespaces of its objects.
    pub namespaces: BTreeSet<String>,
    /// True if Clusters were paused while it was made.
    pub at_rest: bool,
    /// The installed providers.
    pub providers: Vec<BackupProvider>,
    /// What was not ready, in words: `there is no node yet: Machine team/one`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A provider that was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupProvider {
    /// Type and name.
    pub provider: ProviderId,
    /// Its version.
    pub version: String,
    /// Its namespace.
    pub namespace: String,
    /// The kinds that it defines, as `Kind.group`. Without any, nobody knows if objects need it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub kinds: BTreeSet<String>,
}

/// An object of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupObject {
    /// Its file, below `objects`.
    pub file: String,
    /// The SHA-256 of the file, as 64 hexadecimal digits.
    pub sha256: String,
    /// Which object.
    pub object: ObjectKey,
    /// Its uid.
    pub uid: String,
    /// The uids of its owners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// Whether the user had paused it: it stays so.
    #[serde(default)]
    pub paused: bool,
}

/// A backup that was written, or read and verified, without its objects.
#[derive(Clone, Debug)]
pub struct BackupIndex {
    /// The file `manifest.json`.
    pub manifest: BackupManifest,
    /// Its objects in numbers.
    pub contents: BackupContents,
}

impl BackupManifest {
    /// The layout this program writes and reads.
    pub const FORMAT: u32 = 1;

    /// Clusters and ClusterClasses that the user had paused.
    pub(super) fn paused(&self) -> BTreeSet<ObjectKey> {
        self.objects.iter().filter(|one| one.paused).map(|one| one.object.clone()).collect()
    }
}

impl BackupAbout {
    /// Describes the backup that a plan leads to.
    /// # Errors
    /// If the cluster cannot be identified.
    pub async fn of(
        source: &ManagementCluster,
        plan: &MovePlan,
        rest: SaveRest,
        made_by: &str,
    ) -> Result<Self, MoveError> {
        let types = &plan.discovered.types;
        let namespaces = plan.selection.moving().map(|node| plan.facts(node).key.namespace.clone());
        Ok(Self {
            created: format!("{:.0}", jiff::Timestamp::now()),
            made_by: Some(made_by.to_owned()),
            source: identity(source, super::MoveSide::Source).await?,
            namespaces: namespaces.filter(|name| !name.is_empty()).collect(),
            at_rest: rest == SaveRest::Paused,
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

fn sum(content: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(content) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
