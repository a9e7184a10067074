//! The files of a hierarchy on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::InventoryError;
use crate::file_reading::{FolderWalk, LinkPolicy, WalkError, WalkedEntry};

/// The kind of the files in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Class,
    Target,
}

/// A file that defines a class or a target.
pub(super) struct FoundFile {
    /// The path below the folder of its kind.
    pub(super) path: PathBuf,
    /// The parts of the class that encloses relative names.
    pub(super) parent: Vec<String>,
}

/// Finds the files below a folder, also through symbolic links. A missing folder has no files.
pub(super) fn find_files(
    folder: &Path,
    kind: FileKind,
) -> Result<BTreeMap<String, FoundFile>, InventoryError> {
    let mut files = BTreeMap::new();
    if !folder.exists() {
        return Ok(files);
    }
    // The metadata of Git are no classes.
    let is_wanted = |entry: &WalkedEntry| entry.path.file_name().is_some_and(|name| name != ".git");
    let unreadable = |WalkError { path, error }| InventoryError::Unreadable { path, source: error };
    for entry in FolderWalk::new(folder, LinkPolicy::Follow, &is_wanted).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let parts = entry.relative.iter().map(|name| Some(name.to_str()?.to_owned()));
        let Some(parts) = parts.collect::<Option<Vec<_>>>() else {
            return Err(InventoryError::FileName { path: entry.path });
        };
        // A link without target is an error only if its class is used.
        if !entry.is_folder {
            add_file(&mut files, entry.relative, &parts, kind)?;
        }
    }
    Ok(files)
}

fn add_file(
    files: &mut BTreeMap<String, FoundFile>,
    path: PathBuf,
    parts: &[String],
    kind: FileKind,
) -> Result<(), InventoryError> {
    let Some((name, parent)) = name_of(parts, kind) else { return Ok(()) };
    if let Some(known) = files.get(&name) {
        let (kind, folder) = match kind {
            FileKind::Class => ("class", "classes"),
            FileKind::Target => ("node", "targets"),
        };
        let [one, other] = [&known.path, &path].map(|path| Path::new(folder).join(path));
        // As texts, `a.yml` precedes `a/init.yml`.
        let (first, second) = if one.as_os_str() < other.as_os_str() { (one, other) } else { (other, one) };
        return Err(InventoryError::Collision { kind, name, first, second });
    }
    files.insert(name, FoundFile { path, parent });
    Ok(())
}

/// Returns the name of a class or target, and the class that encloses relative names. `None` for other files.
pub(super) fn name_of(parts: &[String], kind: FileKind) -> Option<(String, Vec<String>)> {
    let (file, folders) = parts.split_last()?;
    let stem = file.strip_suffix(".yml").or_else(|| file.strip_suffix(".yaml"))?;
    if stem.is_empty() {
        return None;
    }
    Some(match (kind, folders) {
        (FileKind::Target, [.., last]) if stem == "init" => (last.clone(), Vec::new()),
        (FileKind::Target, _) => (stem.to_owned(), Vec::new()),
        // Relative names in `a/b/init.yml` start in the folder of the class `a.b`, which is `a`.
        (FileKind::Class, [around @ .., _]) if stem == "init" => (folders.join("."), around.to_vec()),
        (FileKind::Class, _) => {
            (folders.iter().map(String::as_str).chain([stem]).collect::<Vec<_>>().join("."), folders.to_vec())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_the_name_of_its_path() {
        let name = |path: &str, kind| {
            let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            name_of(&parts, kind).map(|(name, parent)| (name, parent.join("/")))
        };
        let named = |name: &str, parent: &str| Some((name.to_owned(), parent.to_owned()));
        assert_eq!(name("a.yml", FileKind::Class), named("a", ""));
        assert_eq!(name("a/b.yaml", FileKind::Class), named("a.b", "a"));
        assert_eq!(name("a/b/init.yml", FileKind::Class), named("a.b", "a"));
        assert_eq!(name("a/b.c.yml", FileKind::Class), named("a.b.c", "a"));
        assert_eq!(name("init.yml", FileKind::Class), named("init", ""));
        assert_eq!(name("a/b.txt", FileKind::Class), None);
        assert_eq!(name("a/b.yml", FileKind::Target), named("b", ""));
    }
    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_in_a_circle() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["classes", "shared/.git"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        std::fs::write(path("shared/a.yml"), "").unwrap();
        std::fs::write(path("shared/.git/b.yml"), "").unwrap();
        std::os::unix::fs::symlink(path("shared"), path("classes/team")).unwrap();
        let files = find_files(&path("classes"), FileKind::Class).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["team.a"]);
        assert!(find_files(&path("missing"), FileKind::Class).unwrap().is_empty());

        std::os::unix::fs::symlink(path("classes"), path("shared/again")).unwrap();
        let refused = find_files(&path("classes"), FileKind::Class).err().unwrap();
        assert!(matches!(refused, InventoryError::Unreadable { path, .. } if path.ends_with("team/again")));
    }
}
