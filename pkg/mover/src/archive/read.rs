//! Reads an archive in one pass.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Read},
};

use apply::ObjectKey;
use flate2::bufread::GzDecoder;
use serde::Deserialize;

use super::{
    ArchiveError, BackupContents, BackupIndex, BackupManifest, MANIFEST_FILE, OBJECTS_FOLDER,
    error::malformed,
    sha256_hex,
    tar::{TarEntry, TarReader, read_error},
};
use crate::{SavedFile, SavedObjects, restore::ObjectChecks};

/// Maximum number of objects, which bounds the index. The manifest of this many objects is too large.
const MAX_OBJECTS: usize = 1_000_000;

/// A backup that was read and verified.
#[derive(Clone, Debug)]
pub struct Backup {
    /// The file `manifest.json`.
    pub manifest: BackupManifest,
    /// The objects of the backup.
    pub objects: SavedObjects,
}

/// Reads and verifies a whole backup.
/// # Errors
/// Fails if the archive differs from the output of [`super::ArchiveWriter`]. Examples are unexpected paths, links,
/// duplicate names, oversized objects, wrong checksums and a missing end. Files and manifest must list each other
/// completely.
pub fn read_archive(input: impl Read) -> Result<Backup, ArchiveError> {
    let mut files = Vec::new();
    let manifest = read_entries(input, &mut |file| files.push(file))?;
    let objects = SavedObjects::read(files)?;
    check_listed(&manifest, objects.iter().map(|object| &object.key))?;
    let objects = objects.with_manifest(&manifest);
    Ok(Backup { manifest, objects })
}

/// Reads and verifies a backup like [`read_archive`], without keeping objects in memory.
/// # Errors
/// Fails like [`read_archive`].
pub fn verify_archive(input: impl Read) -> Result<BackupIndex, ArchiveError> {
    let (mut checks, mut contents) = (ObjectChecks::default(), BackupContents::default());
    let manifest = read_entries(input, &mut |file| {
        checks.read(&file).iter().for_each(|object| contents.count_object(object));
    })?;
    check_listed(&manifest, checks.finish()?.iter())?;
    Ok(BackupIndex { manifest, contents })
}

/// Passes each file to `visit`, then verifies every checksum. The files are valid only if this function succeeds.
fn read_entries(input: impl Read, visit: &mut dyn FnMut(SavedFile)) -> Result<BackupManifest, ArchiveError> {
    let mut input = BufReader::new(input);
    let mut tar = TarReader::new(GzDecoder::new(&mut input));
    let (mut checksums, mut manifest) = (BTreeMap::new(), None);
    while let Some(TarEntry { name, content }) = tar.next()? {
        if manifest.is_some() {
            return Err(malformed(format!("its file `{name}` comes after the manifest")));
        }
        if name == MANIFEST_FILE {
            manifest = Some(read_manifest(&content)?);
        } else if let Some(file) = name.strip_prefix(OBJECTS_FOLDER).filter(|file| is_plain_file_name(file)) {
            if checksums.insert(file.to_owned(), sha256_hex(&content)).is_some() {
                return Err(malformed(format!("it contains `{name}` twice")));
            }
            if checksums.len() > MAX_OBJECTS {
                return Err(malformed(format!("it has more than {MAX_OBJECTS} objects")));
            }
            visit(SavedFile { name: file.to_owned(), content });
        } else {
            return Err(malformed(format!(
                "it contains `{}`, which is not part of a backup",
                name.escape_debug()
            )));
        }
    }
    // Reading to the end proves that an encrypted archive is complete.
    if !input.fill_buf().map_err(read_error)?.is_empty() {
        return Err(malformed("it contains data after the end of the archive".to_owned()));
    }
    let Some(manifest) = manifest else { return Err(malformed("it has no manifest".to_owned())) };
    check_checksums(&manifest, checksums)?;
    Ok(manifest)
}

/// Compares the files with the manifest in both directions.
fn check_checksums(
    manifest: &BackupManifest,
    mut checksums: BTreeMap<String, String>,
) -> Result<(), ArchiveError> {
    for object in &manifest.objects {
        let file = &object.file;
        let Some(sum) = checksums.remove(file) else {
            return Err(malformed(format!("its manifest lists `{file}`, but the file is missing")));
        };
        if sum != object.sha256 {
            return Err(ArchiveError::ChecksumMismatch { file: file.clone() });
        }
    }
    match checksums.keys().next() {
        Some(file) => {
            Err(malformed(format!("it contains `{file}`, but its manifest does not list the file")))
        }
        None => Ok(()),
    }
}

/// Fails on an object that the manifest does not list. A file may hold another object than the manifest says.
fn check_listed<'k>(
    manifest: &BackupManifest,
    keys: impl Iterator<Item = &'k ObjectKey>,
) -> Result<(), ArchiveError> {
    let listed: BTreeSet<&ObjectKey> = manifest.objects.iter().map(|one| &one.object).collect();
    match keys.into_iter().find(|key| !listed.contains(key)) {
        Some(other) => {
            Err(malformed(format!("it contains {other}, but its manifest does not list the object")))
        }
        None => Ok(()),
    }
}

/// Parses the format first, because another format may have another shape.
fn read_manifest(content: &[u8]) -> Result<BackupManifest, ArchiveError> {
    #[derive(Deserialize)]
    struct Format {
        format: Option<u64>,
    }
    let bad = |error: serde_json::Error| malformed(format!("its manifest is invalid: {error}"));
    match serde_json::from_slice::<Format>(content).map_err(bad)?.format {
        Some(found) if found == u64::from(BackupManifest::FORMAT) => {}
        Some(found) => return Err(ArchiveError::UnsupportedFormat { found }),
        None => return Err(malformed("its manifest has no field `format`".to_owned())),
    }
    serde_json::from_slice(content).map_err(bad)
}

fn is_plain_file_name(file: &str) -> bool {
    let is_path = file.contains(['/', '\\', '\0']) || file == "." || file == "..";
    !file.is_empty() && !is_path && !file.chars().any(char::is_control)
}
