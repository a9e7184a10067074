//! Clones of Git repositories: folders that are kept, and dropped, as a whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    Store, USE_NOTED_EVERY, inventory::size_of_tree, lock::try_lock_file, prune::remove, store_error,
};
use crate::Error;

/// The folder of clones.
pub(super) const CLONES: &str = "git";

/// A clone that is on its way out.
const LEAVING: &str = ".old-";

/// Who reads a clone holds no lock of it, so that what was used lately stays. A use is noted now and then only.
const IN_USE: Duration = USE_NOTED_EVERY.saturating_mul(2);

/// A clone that nobody is at.
pub(super) struct KeptClone {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    /// When it was last read or fetched.
    pub(super) used: SystemTime,
}

impl Store {
    /// The clones that may be dropped: not used for some time, and without a working copy somewhere.
    pub(super) fn idle_clones(&self) -> Vec<KeptClone> {
        let now = SystemTime::now();
        let kept = |path: PathBuf| {
            let used = fs::metadata(path.join("HEAD")).and_then(|head| head.modified()).ok()?;
            let is_idle = now.duration_since(used).is_ok_and(|unused| unused >= IN_USE);
            let has_copies =
                fs::read_dir(path.join("worktrees")).is_ok_and(|mut copies| copies.next().is_some());
            (is_idle && !has_copies).then(|| KeptClone { size_bytes: size_of_tree(&path), path, used })
        };
        let mut found = Vec::new();
        find(&self.settings().folder.join(CLONES), &is_clone, &mut found);
        found.into_iter().filter_map(kept).collect()
    }

    /// Removes what is left of clones that were on their way out when somebody was killed.
    pub(super) fn sweep_clones(&self) -> Result<(), Error> {
        let is_leaving =
            |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LEAVING));
        let mut found = Vec::new();
        find(&self.settings().folder.join(CLONES), &is_leaving, &mut found);
        found.iter().try_for_each(|path| remove_folder(path))
    }
}

/// Drops a clone, unless somebody fetches into it. It is gone at once, and then taken apart.
pub(super) fn drop_clone(clone: &KeptClone) -> Result<bool, Error> {
    let lock = lock_file(&clone.path);
    let Some(_held) = try_lock_file(&lock)? else { return Ok(false) };
    let name = clone.path.file_name().unwrap_or_default().to_string_lossy();
    let leaving = clone.path.with_file_name(format!("{LEAVING}{name}"));
    remove_folder(&leaving)?;
    fs::rename(&clone.path, &leaving).map_err(|error| store_error(&clone.path, error))?;
    remove_folder(&leaving)?;
    if cfg!(unix) {
        remove(&lock)?;
    }
    Ok(true)
}

/// A folder is a clone when it came to be there whole, which is when it has its name.
pub fn is_clone(folder: &Path) -> bool {
    folder.join("HEAD").is_file()
}

/// Held while a clone is changed.
pub fn lock_file(clone: &Path) -> PathBuf {
    let name = clone.file_name().unwrap_or_default().to_string_lossy();
    clone.with_file_name(format!(".{name}.lock"))
}

/// Folders of a kind at any depth; what is in one of them is not looked at.
fn find(folder: &Path, is_meant: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && is_meant(&path) => found.push(path),
            Ok(kind) if kind.is_dir() && !is_clone(&path) => find(&path, is_meant, found),
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
