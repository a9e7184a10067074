//! Reading an archive in one pass.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Read},
};

use apply::ObjectKey;
use flate2::bufread::GzDecoder;
use serde::Deserialize;

use super::{
    ArchiveError, BackupContents, BackupIndex, BackupManifest, MANIFEST, OBJECTS,
    error::shape,
    sum,
    tar::{Counted, Entry, TarReader, read_error},
};
use crate::{SavedFile, SavedObjects, restore::ObjectChecks};

/// A backup that was read and verified.
#[derive(Clone, Debug)]
pub struct Backup {
    /// The file `manifest.json`.
    pub manifest: BackupManifest,
    /// Its objects.
    pub objects: SavedObjects,
}

/// Reads a backup, all of it, and verifies it.
/// # Errors
/// Whatever is not as [`super::ArchiveWriter`] writes it: paths that lead elsewhere, links, names that come twice, more bytes
/// than any object has, sums that are wrong, files without an entry in the manifest and the reverse, and a missing end.
pub fn read_archive(input: impl Read) -> Result<Backup, ArchiveError> {
    let mut files = Vec::new();
    let manifest = scan(input, &mut |file| files.push(file))?;
    let objects = SavedObjects::read(files)?;
    check_listed(&manifest, objects.iter().map(|object| &object.key))?;
    let objects = objects.with(&manifest);
    Ok(Backup { manifest, objects })
}

/// Reads a backup and verifies it as [`read_archive`] does, and holds no object.
/// # Errors
/// As for [`read_archive`].
pub fn verify_archive(input: impl Read) -> Result<BackupIndex, ArchiveError> {
    let (mut checks, mut contents) = (ObjectChecks::default(), BackupContents::default());
    let manifest = scan(input, &mut |file| {
        checks.read(&file).iter().for_each(|object| contents.note(object));
    })?;
    check_listed(&manifest, checks.finish()?.iter())?;
    Ok(BackupIndex { manifest, contents })
}

/// Hands out each file as it comes, then verifies every sum. What was handed out counts only if this ends well.
fn scan(input: impl Read, visit: &mut dyn FnMut(SavedFile)) -> Result<BackupManifest, ArchiveError> {
    let compressed = Cell::new(0);
    let mut input = BufReader::new(Counted { input, count: &compressed });
    let mut tar = TarReader::new(GzDecoder::new(&mut input), &compressed);
    let (mut sums, mut manifest) = (BTreeMap::new(), None);
    while let Some(Entry { name, content }) = tar.next()? {
        if manifest.is_some() {
            return Err(shape(format!("`{name}` in it comes after the manifest")));
        }
        if name == MANIFEST {
            manifest = Some(read_manifest(&content)?);
        } else if let Some(file) = name.strip_prefix(OBJECTS).filter(|file| is_plain(file)) {
            if sums.insert(file.to_owned(), sum(&content)).is_some() {
                return Err(shape(format!("`{name}` is in it twice")));
            }
            visit(SavedFile { name: file.to_owned(), content });
        } else {
            return Err(shape(format!("`{}` in it is no file of a backup", name.escape_debug())));
        }
    }
    // A sealed archive proves here that it is complete.
    if !input.fill_buf().map_err(read_error)?.is_empty() {
        return Err(shape("there is something behind its end".to_owned()));
    }
    let Some(manifest) = manifest else { return Err(shape("it has no manifest".to_owned())) };
    check_sums(&manifest, sums)?;
    Ok(manifest)
}

/// Compares the files with the manifest, in both directions.
fn check_sums(manifest: &BackupManifest, mut sums: BTreeMap<String, String>) -> Result<(), ArchiveError> {
    for object in &manifest.objects {
        let file = &object.file;
        let Some(sum) = sums.remove(file) else {
            return Err(shape(format!("`{file}` is in its manifest and not in it")));
        };
        if sum != object.sha256 {
            return Err(ArchiveError::Sum { file: file.clone() });
        }
    }
    match sums.keys().next() {
        Some(file) => Err(shape(format!("`{file}` is in it and not in its manifest"))),
        None => Ok(()),
    }
}

/// Finds an object that the manifest does not list: a file may hold another object than it says.
fn check_listed<'k>(
    manifest: &BackupManifest,
    keys: impl Iterator<Item = &'k ObjectKey>,
) -> Result<(), ArchiveError> {
    let listed: BTreeSet<&ObjectKey> = manifest.objects.iter().map(|one| &one.object).collect();
    match keys.into_iter().find(|key| !listed.contains(key)) {
        Some(other) => Err(shape(format!("{other} is in it and not in its manifest"))),
        None => Ok(()),
    }
}

/// The format comes first: another one may have another shape.
fn read_manifest(content: &[u8]) -> Result<BackupManifest, ArchiveError> {
    #[derive(Deserialize)]
    struct Format {
        format: Option<u64>,
    }
    let bad = |error: serde_json::Error| shape(format!("its manifest cannot be read: {error}"));
    match serde_json::from_slice::<Format>(content).map_err(bad)?.format {
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
