//! The files of a hierarchy on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::InventoryError;

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
    let mut search = Search { kind, files: BTreeMap::new() };
    if folder.exists() {
        let canonical = folder.canonicalize().map_err(|source| unreadable(folder, source))?;
        search.folder(folder, &mut Vec::new(), &mut vec![canonical])?;
    }
    Ok(search.files)
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

struct Search {
    kind: FileKind,
    files: BTreeMap<String, FoundFile>,
}

impl Search {
    /// Searches a folder. `parts` is its path below the first folder; `open` has the real paths of the folders around.
    fn folder(
        &mut self,
        folder: &Path,
        parts: &mut Vec<String>,
        open: &mut Vec<PathBuf>,
    ) -> Result<(), InventoryError> {
        let entries = fs::read_dir(folder).map_err(|source| unreadable(folder, source))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| unreadable(folder, source))?;
            names.push(entry.file_name());
        }
        names.sort();
        for name in names {
            let path = folder.join(&name);
            // The metadata of Git are no classes.
            if name == ".git" {
                continue;
            }
            let Some(name) = name.to_str() else { return Err(InventoryError::FileName { path }) };
            parts.push(name.to_owned());
            // A link without target is an error only if its class is used.
            if path.is_dir() {
                let real = path.canonicalize().map_err(|source| unreadable(&path, source))?;
                if open.contains(&real) {
                    return Err(InventoryError::LinkLoop { path });
                }
                open.push(real);
                self.folder(&path, parts, open)?;
                open.pop();
            } else {
                self.file(parts)?;
            }
            parts.pop();
        }
        Ok(())
    }

    fn file(&mut self, parts: &[String]) -> Result<(), InventoryError> {
        let Some((name, parent)) = name_of(parts, self.kind) else { return Ok(()) };
        let path: PathBuf = parts.iter().collect();
        if let Some(known) = self.files.get(&name) {
            let (kind, folder) = match self.kind {
                FileKind::Class => ("class", "classes"),
                FileKind::Target => ("node", "targets"),
            };
            let [one, other] = [&known.path, &path].map(|path| Path::new(folder).join(path));
            // As texts, `a.yml` precedes `a/init.yml`.
            let (first, second) =
                if one.as_os_str() < other.as_os_str() { (one, other) } else { (other, one) };
            return Err(InventoryError::Collision { kind, name, first, second });
        }
        self.files.insert(name, FoundFile { path, parent });
        Ok(())
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> InventoryError {
    InventoryError::Unreadable { path: path.to_owned(), source }
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
}
