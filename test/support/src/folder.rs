//! Folders with test data.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folders in a folder, sorted by name.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

/// Returns the content of all files below a folder, by path from it: `/templates/a.yaml`.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in entries(folder) {
        let path = format!("/{}", entry.file_name().unwrap_or_default().to_string_lossy());
        if entry.is_dir() {
            found.extend(files(&entry).into_iter().map(|(inner, content)| (path.clone() + &inner, content)));
        } else {
            found.push((path, fs::read(&entry).expect("test data must be readable")));
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("test data must be readable");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("test data must be readable").path()).collect();
    paths.sort();
    paths
}
