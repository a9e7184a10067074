//! Backups: one file that holds what a save has read, and says of itself what it holds.
//!
//! ```text
//! gzip( tar( objects/Kind_namespace_name.yaml …, manifest.json ) )          or that, sealed: `seal`
//! ```
//!
//! - Objects are as in a directory: unpacked with `tar xzf`, `objects` can be restored by the peer as well.
//! - The manifest comes last, as it holds the sum of every file: an archive that was cut off has none.
//! - Reading trusts nothing: nothing is given out before all of the archive was read, has the shape this module writes, and
//!   every sum was found right.

mod error;
mod seal;
mod tar;
#[cfg(test)]
mod tests;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{self, BufRead as _, Read, Write},
};

use api::ProviderId;
use apply::ObjectKey;
use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use provider::InstalledProvider;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::tar::{Counted, Entry, TarReader, TarWriter, read_error};
use super::{ClusterIdentity, LeftOut, SavedFile, SavedObject, SavedObjects};
use crate::ManagementCluster;

pub use error::ArchiveError;
pub use seal::{
    ArchiveInput, ArchiveKeys, ArchiveLock, ArchiveOutput, Identity, KeyError, KeyFileError, Passphrase,
    Recipient, Seal, SealedOutput,
};

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
    /// When it began, RFC 3339.
    pub created: String,
    /// Of which cluster.
    pub source: ClusterIdentity,
    /// Of which namespaces.
    pub namespaces: BTreeSet<String>,
    /// Whether everything rested while it was read.
    pub at_rest: bool,
    /// What was installed.
    pub providers: Vec<BackupProvider>,
    /// What was not ready, in words: `there is no node yet: Machine team/one`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A provider that was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupProvider {
    /// Which one.
    pub provider: ProviderId,
    /// Its version.
    pub version: String,
    /// Its namespace.
    pub namespace: String,
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

/// A backup that was read and verified.
#[derive(Clone, Debug)]
pub struct Backup {
    /// What it says of itself.
    pub manifest: BackupManifest,
    /// What it holds.
    pub objects: SavedObjects,
}

/// Writes a backup, object by object.
#[derive(Debug)]
pub struct ArchiveWriter<W: Write> {
    tar: TarWriter<GzEncoder<W>>,
    names: BTreeSet<String>,
    objects: Vec<BackupObject>,
}

impl BackupManifest {
    /// The layout this program writes and reads.
    pub const FORMAT: u32 = 1;

    /// What was installed where it was made.
    fn installed(&self) -> Vec<InstalledProvider> {
        let installed = |one: &BackupProvider| InstalledProvider {
            id: one.provider.clone(),
            version: one.version.clone(),
            namespace: one.namespace.clone(),
        };
        self.about.providers.iter().map(installed).collect()
    }
}

impl BackupAbout {
    /// Looks at what a backup is made of.
    /// # Errors
    /// As for a move.
    pub async fn look(
        source: &ManagementCluster,
        namespaces: &BTreeSet<String>,
        providers: &[InstalledProvider],
        at_rest: bool,
    ) -> Result<Self, super::MoveError> {
        let side = super::MoveSide::Source;
        let identity = source.identity().await.map_err(|source| super::MoveError::Api { side, source })?;
        let one = |installed: &InstalledProvider| BackupProvider {
            provider: installed.id.clone(),
            version: installed.version.clone(),
            namespace: installed.namespace.clone(),
        };
        Ok(Self {
            created: format!("{:.0}", jiff::Timestamp::now()),
            source: identity,
            namespaces: namespaces.clone(),
            at_rest,
            providers: providers.iter().map(one).collect(),
            notes: Vec::new(),
        })
    }
}

impl<W: Write> ArchiveWriter<W> {
    /// Begins an archive.
    pub fn new(out: W) -> Self {
        let tar = TarWriter::new(GzEncoder::new(out, Compression::default()));
        Self { tar, names: BTreeSet::new(), objects: Vec::new() }
    }

    /// Adds an object.
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, saved: &SavedObject) -> io::Result<()> {
        let file = self.name(saved);
        self.tar.append(&format!("{OBJECTS}{file}"), &saved.content)?;
        self.objects.push(BackupObject {
            file,
            sha256: sum(&saved.content),
            object: saved.key.clone(),
            uid: saved.uid.clone(),
            owners: saved.owners.clone(),
            paused: saved.was_paused,
        });
        Ok(())
    }

    /// Ends it with what was left out of it, and gives back what it was written to.
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self, about: BackupAbout, left_out: Vec<LeftOut>) -> io::Result<W> {
        let format = BackupManifest::FORMAT;
        let manifest = BackupManifest { format, about, objects: self.objects, left_out };
        let mut json = serde_json::to_vec_pretty(&manifest)?;
        json.push(b'\n');
        self.tar.append(MANIFEST, &json)?;
        self.tar.finish()?.finish()
    }

    /// The name of an object's file, with its group where another object has that name, in any case of letters.
    fn name(&mut self, saved: &SavedObject) -> String {
        let plain = saved.file.clone();
        if self.names.insert(plain.to_lowercase()) {
            return plain;
        }
        let ObjectKey { group, kind, namespace, name } = &saved.key;
        let full = format!("{kind}.{group}_{namespace}_{name}.yaml");
        self.names.insert(full.to_lowercase());
        full
    }
}

/// Reads a backup, all of it, and verifies it.
/// # Errors
/// Whatever is not as [`ArchiveWriter`] writes it: paths that lead elsewhere, links, names that come twice, more bytes than
/// any object has, sums that are wrong, files without an entry in the manifest and the reverse, and a missing end.
pub fn read_archive(input: impl Read) -> Result<Backup, ArchiveError> {
    let compressed = Cell::new(0);
    let mut input = io::BufReader::new(Counted { input, count: &compressed });
    let mut tar = TarReader::new(GzDecoder::new(&mut input), &compressed);
    let (mut files, mut manifest) = (BTreeMap::new(), None);
    while let Some(Entry { name, content }) = tar.next()? {
        if manifest.is_some() {
            return Err(shape(format!("`{name}` in it comes after the manifest")));
        }
        if name == MANIFEST {
            manifest = Some(read_manifest(&content)?);
        } else if let Some(file) = name.strip_prefix(OBJECTS).filter(|file| is_plain(file)) {
            if files.insert(file.to_owned(), content).is_some() {
                return Err(shape(format!("`{name}` is in it twice")));
            }
        } else {
            return Err(shape(format!("`{}` in it is no file of a backup", name.escape_debug())));
        }
    }
    // What is sealed says here that it is whole.
    if !input.fill_buf().map_err(read_error)?.is_empty() {
        return Err(shape("there is something behind its end".to_owned()));
    }
    let Some(manifest) = manifest else { return Err(shape("it has no manifest".to_owned())) };
    let objects = verified(&manifest, files)?;
    Ok(Backup { manifest, objects })
}

/// The objects, each found to be what the manifest says.
fn verified(
    manifest: &BackupManifest,
    mut files: BTreeMap<String, Vec<u8>>,
) -> Result<SavedObjects, ArchiveError> {
    let mut saved = Vec::new();
    for object in &manifest.objects {
        let file = &object.file;
        let Some(content) = files.remove(file) else {
            return Err(shape(format!("`{file}` is in its manifest and not in it")));
        };
        if sum(&content) != object.sha256 {
            return Err(ArchiveError::Sum { file: file.clone() });
        }
        saved.push(SavedFile { name: file.clone(), content });
    }
    if let Some(file) = files.keys().next() {
        return Err(shape(format!("`{file}` is in it and not in its manifest")));
    }
    let paused: BTreeSet<ObjectKey> =
        manifest.objects.iter().filter(|one| one.paused).map(|one| one.object.clone()).collect();
    let objects = SavedObjects::read(saved)?.with(manifest.installed(), &paused);
    let listed: BTreeSet<&ObjectKey> = manifest.objects.iter().map(|one| &one.object).collect();
    let other = objects.iter().find(|object| !listed.contains(&object.key));
    if let Some(other) = other {
        return Err(shape(format!("{} is in it and not in its manifest", other.key)));
    }
    Ok(objects)
}

#[derive(Deserialize)]
struct Format {
    format: Option<u64>,
}

/// The format comes first: another one may have another shape.
fn read_manifest(content: &[u8]) -> Result<BackupManifest, ArchiveError> {
    let bad = |error: serde_json::Error| shape(format!("its manifest cannot be read: {error}"));
    // Only what belongs to a manifest is held: a tree of all that may be in it would take many times its size.
    let Format { format } = serde_json::from_slice(content).map_err(bad)?;
    match format {
        Some(found) if found == u64::from(BackupManifest::FORMAT) => {}
        Some(found) => return Err(ArchiveError::Format { found }),
        None => return Err(shape("its manifest has no format".to_owned())),
    }
    serde_json::from_slice(content).map_err(bad)
}

fn is_plain(file: &str) -> bool {
    let is_path = file.contains(['/', '\\', '\0']) || file == "." || file == "..";
    !file.is_empty() && !is_path && !file.chars().any(char::is_control)
}

fn sum(content: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(content) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn shape(what: String) -> ArchiveError {
    ArchiveError::Shape { what }
}
