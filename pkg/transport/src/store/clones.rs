//! Clones of Git repositories: folders that are stored and removed as a whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    Store, USE_RECORD_INTERVAL, inventory::size_of_tree, lock::try_lock_file, prune::remove, store_error,
};
use crate::Error;

/// The folder of all clones.
pub(super) const CLONES: &str = "git";

/// The name prefix of a clone that is being removed.
const REMOVAL_PREFIX: &str = ".old-";

/// The time during which a used clone counts as active. Readers of a clone hold no lock, and uses are recorded only at
/// intervals.
const ACTIVE_PERIOD: Duration = USE_RECORD_INTERVAL.saturating_mul(2);

/// A clone that is not in use.
pub(super) struct StoredClone {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    /// Time of the last read or fetch.
    pub(super) last_used: SystemTime,
}

impl Store {
    /// Returns the clones that may be removed: clones without recent use and without working copies.
    pub(super) fn idle_clones(&self) -> Vec<StoredClone> {
        let now = SystemTime::now();
        let kept = |path: PathBuf| {
            let used = fs::metadata(path.join("HEAD")).and_then(|head| head.modified()).ok()?;
            let is_idle = now.duration_since(used).is_ok_and(|unused| unused >= ACTIVE_PERIOD);
            let has_copies =
                fs::read_dir(path.join("worktrees")).is_ok_and(|mut copies| copies.next().is_some());
            (is_idle && !has_copies).then(|| StoredClone {
                size_bytes: size_of_tree(&path),
                path,
                last_used: used,
            })
        };
        let mut found = Vec::new();
        find(&self.settings().folder.join(CLONES), &is_clone, &mut found);
        found.into_iter().filter_map(kept).collect()
    }

    /// Removes the remains of clones whose removal was interrupted.
    pub(super) fn sweep_clones(&self) -> Result<(), Error> {
        let is_leaving = |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(REMOVAL_PREFIX))
        };
        let mut found = Vec::new();
        find(&self.settings().folder.join(CLONES), &is_leaving, &mut found);
        found.iter().try_for_each(|path| remove_folder(path))
    }
}

/// Removes a clone, unless another process fetches into it. The clone is renamed first, so its removal is atomic for
/// readers.
pub(super) fn drop_clone(clone: &StoredClone) -> Result<bool, Error> {
    let lock = lock_file(&clone.path);
    let Some(_held) = try_lock_file(&lock)? else { return Ok(false) };
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

/// True if a folder is a complete clone. Incomplete clones have another name.
pub fn is_clone(folder: &Path) -> bool {
    folder.join("HEAD").is_file()
}

/// Returns the path of the lock file that a process holds while it changes a clone.
pub fn lock_file(clone: &Path) -> PathBuf {
    let name = clone.file_name().unwrap_or_default().to_string_lossy();
    clone.with_file_name(format!(".{name}.lock"))
}

/// Finds matching folders at any depth. Folders inside a matching folder or a clone are ignored.
fn find(folder: &Path, matches: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && matches(&path) => found.push(path),
            Ok(kind) if kind.is_dir() && !is_clone(&path) => find(&path, matches, found),
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
