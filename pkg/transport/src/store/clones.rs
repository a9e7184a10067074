//! Clones of Git repositories: folders that are stored and removed as a whole.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    Store,
    inventory::size_of_tree,
    lock::{is_removed, try_lock_file},
    prune::remove,
    record_use, store_error,
};
use crate::Error;

/// The folder of all clones.
pub(super) const CLONES: &str = "git";

/// The name prefix of a clone that is being removed.
const REMOVAL_PREFIX: &str = ".old-";

/// The name prefix of a clone that is being created under the lock of its final name.
pub const CREATION_PREFIX: &str = ".new-";

/// A clone that is not in use.
pub(super) struct StoredClone {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    /// Time of the last read or fetch.
    pub(super) last_used: SystemTime,
}

impl Store {
    /// Returns the clones that no process uses.
    pub(super) fn idle_clones(&self) -> Vec<StoredClone> {
        let mut found = Vec::new();
        find(
            &self.settings().folder.join(CLONES),
            &|path| is_clone(path) && !is_incomplete(path),
            &mut found,
        );
        let idle = |path: PathBuf| {
            let head = lock_idle(&path)?;
            let last_used = head.metadata().and_then(|head| head.modified()).ok()?;
            Some(StoredClone { size_bytes: size_of_tree(&path), path, last_used })
        };
        found.into_iter().filter_map(idle).collect()
    }

    /// Removes the remains of interrupted removals and creations of clones.
    pub(super) fn sweep_clones(&self) -> Result<(), Error> {
        let mut found = Vec::new();
        find(&self.settings().folder.join(CLONES), &is_incomplete, &mut found);
        for path in found {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let lock = name.strip_prefix(CREATION_PREFIX).map(|name| lock_file(&path.with_file_name(name)));
            let held = lock.as_deref().map(try_lock_file).transpose()?;
            if !matches!(held, Some(None)) {
                remove_folder(&path)?;
            }
        }
        Ok(())
    }
}

/// Removes a clone, unless another process uses it or fetches into it. The clone is renamed first, so its removal is
/// atomic for readers.
pub(super) fn drop_clone(clone: &StoredClone) -> Result<bool, Error> {
    let lock = lock_file(&clone.path);
    let (Some(_held), Some(head)) = (try_lock_file(&lock)?, lock_idle(&clone.path)) else { return Ok(false) };
    if cfg!(windows) {
        // Windows renames no folder with an open file.
        drop(head);
    }
    let name = clone.path.file_name().unwrap_or_default().to_string_lossy();
    let leaving = clone.path.with_file_name(format!("{REMOVAL_PREFIX}{name}"));
    remove_folder(&leaving)?;
    fs::rename(&clone.path, &leaving).map_err(|error| store_error(&clone.path, error))?;
    remove_folder(&leaving)?;
    if cfg!(unix) {
        remove(&lock)?;
    }
    Ok(true)
}

/// Protects a clone against pruning while the returned file is open. None if the clone does not exist.
pub fn hold_clone(clone: &Path) -> Option<File> {
    let path = clone.join("HEAD");
    let head = File::open(&path).ok()?;
    // Some file systems have no locks.
    let _ = head.lock_shared();
    record_use(&path);
    (is_clone(clone) && !is_removed(&head)).then_some(head)
}

/// Locks a clone that no process holds.
fn lock_idle(clone: &Path) -> Option<File> {
    let head = File::options().append(true).open(clone.join("HEAD")).ok()?;
    head.try_lock().is_ok().then_some(head)
}

/// True if a folder is a complete clone. Incomplete clones have another name.
pub fn is_clone(folder: &Path) -> bool {
    folder.join("HEAD").is_file()
}

/// Returns the path of the lock file that a process holds while it changes a clone.
pub fn lock_file(clone: &Path) -> PathBuf {
    let name = clone.file_name().unwrap_or_default().to_string_lossy();
    clone.with_file_name(format!(".{name}.lock"))
}

/// True if a clone is being created or removed.
fn is_incomplete(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    [REMOVAL_PREFIX, CREATION_PREFIX].iter().any(|prefix| name.starts_with(prefix))
}

/// Finds matching folders at any depth. Folders inside a clone, complete or not, are ignored.
fn find(folder: &Path, matches: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && matches(&path) => found.push(path),
            Ok(kind) if kind.is_dir() && !is_clone(&path) && !is_incomplete(&path) => {
                find(&path, matches, found);
            }
            _ => {}
        }
    }
}

fn remove_folder(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(store_error(path, error)),
        _ => Ok(()),
    }
}
