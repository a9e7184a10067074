//! Everything in a store, as pruning and surveys look at it.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    Store, TEMPORARY,
    entry::{Entry, read_entry},
    store_error,
};
use crate::{Digest, Error};

/// A blob and what refers to it.
pub(super) struct Kept {
    pub(super) digest: Digest,
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    /// When it was last read or written, under any of its addresses.
    pub(super) used: SystemTime,
    pub(super) entries: Vec<(PathBuf, Entry)>,
}

/// All of a store.
#[derive(Default)]
pub(super) struct Inventory {
    pub(super) kept: Vec<Kept>,
    /// Entries that cannot be read, or whose blob is gone.
    pub(super) stray: Vec<PathBuf>,
    /// Files of writes that did not end, or have not ended yet.
    pub(super) temporaries: Vec<Temporary>,
}

pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    pub(super) age: Duration,
}

impl Store {
    /// Looks at everything.
    /// # Errors
    /// When the store cannot be used, or listed.
    pub(super) fn inventory(&self) -> Result<Inventory, Error> {
        self.check()?;
        let mut inventory = Inventory::default();
        let mut entries: HashMap<Digest, Vec<(PathBuf, Entry, SystemTime)>> = HashMap::new();
        // Entries first: one is written behind its blob, so that the blob of what is seen here is seen below.
        for file in files(&self.entries())? {
            if inventory.took_temporary(&file) {
                continue;
            }
            match read_entry(&file.path)? {
                Some(entry) => {
                    entries.entry(entry.digest).or_default().push((file.path, entry, file.modified));
                }
                None => inventory.stray.push(file.path),
            }
        }
        for file in files(&self.blobs())? {
            // What has no digest as its name was not put there by us.
            let Some(digest) = digest_of_name(&file) else {
                inventory.took_temporary(&file);
                continue;
            };
            let of_blob = entries.remove(&digest).unwrap_or_default();
            let used = of_blob.iter().map(|(_, _, used)| *used).fold(file.modified, SystemTime::max);
            let entries = of_blob.into_iter().map(|(path, entry, _)| (path, entry)).collect();
            inventory.kept.push(Kept { digest, path: file.path, size_bytes: file.size_bytes, used, entries });
        }
        inventory.stray.extend(entries.into_values().flatten().map(|(path, ..)| path));
        inventory.kept.sort_by(|a, b| a.used.cmp(&b.used).then_with(|| a.digest.cmp(&b.digest)));
        Ok(inventory)
    }
}

impl Inventory {
    pub(super) fn size_bytes(&self) -> u64 {
        self.kept.iter().map(|kept| kept.size_bytes).sum()
    }

    fn took_temporary(&mut self, file: &Listed) -> bool {
        let is_temporary = file.name().starts_with(TEMPORARY);
        if is_temporary {
            let age = SystemTime::now().duration_since(file.modified).unwrap_or_default();
            self.temporaries.push(Temporary { path: file.path.clone(), size_bytes: file.size_bytes, age });
        }
        is_temporary
    }
}

/// Bytes in all blobs, as far as they can be listed.
pub(super) fn size_of_blobs(blobs: &Path) -> u64 {
    let blobs = files(blobs).unwrap_or_default();
    blobs.iter().filter(|file| digest_of_name(file).is_some()).map(|file| file.size_bytes).sum()
}

/// Bytes in all files below a folder, as far as they can be listed.
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

pub(super) struct Listed {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    pub(super) modified: SystemTime,
}

impl Listed {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The files of a folder; none when it is not there. What goes away meanwhile is left out.
pub(super) fn files(folder: &Path) -> Result<Vec<Listed>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(store_error(folder, error)),
    };
    let mut listed = Vec::new();
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if let (true, Ok(modified)) = (metadata.is_file(), metadata.modified()) {
            listed.push(Listed { path: entry.path(), size_bytes: metadata.len(), modified });
        }
    }
    Ok(listed)
}

fn digest_of_name(file: &Listed) -> Option<Digest> {
    format!("sha256:{}", file.name()).parse().ok()
}
