//! The checked files, and the working folders around them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum size of a checked file.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;
/// The maximum nesting of folders.
const MAX_FOLDERS: usize = 64;
/// The folders of a working folder that compilations fill.
const FILLED_FOLDERS: [&str; 4] = ["catalog", "compiled", "dependencies", "vendor"];
/// The folder with the test cases of a component or package.
pub(super) const TESTS: &str = "tests";

/// Returns all files below a path, except for hidden ones. Links are followed.
pub(super) fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(path, 0, &|_| true, &mut files);
    files
}

/// Adds the files below a path whose paths are wanted, except for hidden ones.
pub(super) fn collect(
    path: &Path,
    depth: usize,
    is_wanted: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
) {
    if !path.is_dir() {
        return files.push(path.to_owned());
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| !name.to_string_lossy().starts_with('.')) {
        let path = path.join(name);
        if depth < MAX_FOLDERS && is_wanted(&path) {
            collect(&path, depth + 1, is_wanted, files);
        }
    }
}

/// Returns the files that the user writes: without links, test cases, and what compilations fetch and write. A path of the
/// user is always wanted. The keys are the paths without links.
pub(super) fn own_files(paths: &[PathBuf]) -> BTreeMap<PathBuf, PathBuf> {
    let is_wanted = |path: &Path| {
        let is_filled = FILLED_FOLDERS.iter().any(|name| path.ends_with(name));
        let is_work = || path.parent().is_some_and(|parent| parent.join("inventory/classes").is_dir());
        !(path.is_symlink() || path.ends_with(TESTS) || is_filled && is_work())
    };
    let mut files = Vec::new();
    for path in paths {
        collect(path, 0, &is_wanted, &mut files);
    }
    files.into_iter().filter_map(|file| Some((file.canonicalize().ok()?, file))).collect()
}

/// Returns the working folders around paths, and the paths without one.
pub(super) fn working_folders(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<&PathBuf>) {
    let (mut folders, mut outside) = (Vec::new(), Vec::new());
    for path in paths {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        match real.ancestors().find(|folder| folder.join("inventory/classes").is_dir()) {
            Some(folder) if !folders.iter().any(|known| known == folder) => folders.push(folder.to_owned()),
            Some(_) => {}
            None => outside.push(path),
        }
    }
    (folders, outside)
}
