//! The complete content of a store, for pruning and surveys.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    Store, TEMPORARY_PREFIX,
    entry::{Entry, read_entry},
    store_error,
};
use crate::{Digest, Error};

/// A blob and its entries.
pub(super) struct StoredBlob {
    pub(super) digest: Digest,
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    /// Time of the last read or write of the blob or one of its entries.
    pub(super) last_used: SystemTime,
    pub(super) entries: Vec<(PathBuf, Entry)>,
}

/// The complete content of a store.
#[derive(Default)]
pub(super) struct StoreInventory {
    pub(super) blobs: Vec<StoredBlob>,
    /// Entries that are invalid or refer to a missing blob.
    pub(super) stray_entries: Vec<PathBuf>,
    /// Temporary files of active or interrupted writes.
    pub(super) temporaries: Vec<Temporary>,
}

pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    pub(super) age: Duration,
}

impl Store {
    /// Lists the content of the store.
    /// # Errors
    /// Fails if the store cannot be used or listed.
    pub(super) fn inventory(&self) -> Result<StoreInventory, Error> {
        self.check()?;
        let mut inventory = StoreInventory::default();
        let mut entries: HashMap<Digest, Vec<(PathBuf, Entry, SystemTime)>> = HashMap::new();
        // Entries are listed first: a blob is written before its entry, so every listed entry has a listed blob.
        for file in files(&self.entries())? {
            if inventory.add_temporary(&file) {
                continue;
            }
            match read_entry(&file.path)? {
                Some(entry) => {
                    entries.entry(entry.digest).or_default().push((file.path, entry, file.modified));
                }
                None => inventory.stray_entries.push(file.path),
            }
        }
        for file in files(&self.blobs())? {
            // Files whose name is not a digest are not blobs of the store.
            let Some(digest) = digest_of_name(&file) else {
                inventory.add_temporary(&file);
                continue;
            };
            let of_blob = entries.remove(&digest).unwrap_or_default();
            let used = of_blob.iter().map(|(_, _, used)| *used).fold(file.modified, SystemTime::max);
            let entries = of_blob.into_iter().map(|(path, entry, _)| (path, entry)).collect();
            inventory.blobs.push(StoredBlob {
                digest,
                path: file.path,
                size_bytes: file.size_bytes,
                last_used: used,
                entries,
            });
        }
        inventory.stray_entries.extend(entries.into_values().flatten().map(|(path, ..)| path));
        inventory.blobs.sort_by(|a, b| a.last_used.cmp(&b.last_used).then_with(|| a.digest.cmp(&b.digest)));
        Ok(inventory)
    }
}

impl StoreInventory {
    pub(super) fn size_bytes(&self) -> u64 {
        self.blobs.iter().map(|kept| kept.size_bytes).sum()
    }

    fn add_temporary(&mut self, file: &ListedFile) -> bool {
        let is_temporary = file.name().starts_with(TEMPORARY_PREFIX);
        if is_temporary {
            let age = SystemTime::now().duration_since(file.modified).unwrap_or_default();
            self.temporaries.push(Temporary { path: file.path.clone(), size_bytes: file.size_bytes, age });
        }
        is_temporary
    }
}

/// Returns the size of all blobs. Unreadable folders are ignored.
pub(super) fn size_of_blobs(blobs: &Path) -> u64 {
    let blobs = files(blobs).unwrap_or_default();
    blobs.iter().filter(|file| digest_of_name(file).is_some()).map(|file| file.size_bytes).sum()
}

/// Returns the size of all files below a folder. Unreadable folders are ignored.
pub(super) fn size_of_tree(folder: &Path) -> u64 {
    let mut size_bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) => size_bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    size_bytes
}

pub(super) struct ListedFile {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    pub(super) modified: SystemTime,
}

impl ListedFile {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Lists the files of a folder. Empty if the folder does not exist. Files that disappear during the call are skipped.
pub(super) fn files(folder: &Path) -> Result<Vec<ListedFile>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(store_error(folder, error)),
    };
    let mut listed = Vec::new();
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if let (true, Ok(modified)) = (metadata.is_file(), metadata.modified()) {
            listed.push(ListedFile { path: entry.path(), size_bytes: metadata.len(), modified });
        }
    }
    Ok(listed)
}

fn digest_of_name(file: &ListedFile) -> Option<Digest> {
    format!("sha256:{}", file.name()).parse().ok()
}
