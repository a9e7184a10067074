//! Files and folders that the caller provides, so that charts and kustomizations never read the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use manifest::Object;

/// The path of a file or folder in a [`Tree`]: absolute, with `/` between names, without `.`, `..` and empty names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Arc<str>);

impl TreePath {
    /// Makes a path of a text, which counts as absolute; `..` at the top stays at the top.
    pub fn new(text: &str) -> Self {
        Self(Arc::from("/")).join(text)
    }

    /// Resolves a path relative to this folder; an absolute path replaces it.
    #[must_use]
    pub fn join(&self, relative: &str) -> Self {
        let base = if relative.starts_with('/') { "" } else { &*self.0 };
        let mut names: Vec<&str> = Vec::new();
        for name in base.split('/').chain(relative.split('/')) {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        Self(Arc::from(format!("/{}", names.join("/"))))
    }

    /// The path as text; starts with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name; empty for the top.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// The parent folder; the top is its own parent.
    #[must_use]
    pub fn folder(&self) -> Self {
        Self::new(self.0.rsplit_once('/').map_or("", |(folder, _)| folder))
    }

    /// True if this path is `folder` or lies in it.
    pub fn is_in(&self, folder: &Self) -> bool {
        &*folder.0 == "/"
            || self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns this path relative to a folder: `../base/a.yaml`.
    pub fn relative_to(&self, folder: &Self) -> String {
        let names = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let (from, to): (Vec<String>, Vec<String>) = (names(&folder.0), names(&self.0));
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let steps = from[shared..].iter().map(|_| "..").chain(to[shared..].iter().map(String::as_str));
        let text = steps.collect::<Vec<_>>().join("/");
        if text.is_empty() { ".".to_owned() } else { text }
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The content at a path, under its canonical path: the path after resolving all links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedPath {
    /// A file.
    File(TreePath),
    /// A folder.
    Folder(TreePath),
    /// Nothing.
    Missing,
}

/// Files by path. Readers never write.
pub trait Tree {
    /// Resolves the links in a path and returns the kind of its target.
    /// # Errors
    /// `TreeError` if the path cannot be resolved, for example for lack of permission. A path without content is
    /// `Missing`.
    fn resolve(&self, path: &TreePath) -> Result<ResolvedPath, TreeError>;

    /// Reads a file, given by its canonical path.
    /// # Errors
    /// `TreeError` if the file does not exist or cannot be read.
    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError>;

    /// Lists the names in a folder, given by its canonical path, in byte order.
    /// # Errors
    /// `TreeError` if the folder cannot be read.
    fn list(&self, folder: &TreePath) -> Result<Vec<String>, TreeError>;

    /// Starts to record the provenance of the objects of a file that was written by a template. Does nothing for other
    /// files.
    fn start_provenance(&self, _file: &TreePath, _objects: &mut [&mut Object]) {}
}

/// A failure to resolve or read a path.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{path}`: {reason}")]
pub struct TreeError {
    /// The requested path.
    pub path: TreePath,
    /// The reason, as given by the system.
    pub reason: String,
}

/// A tree in memory, without links.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    files: Arc<BTreeMap<TreePath, Arc<[u8]>>>,
}

impl MemoryTree {
    /// Returns the bytes of all files.
    pub fn size(&self) -> usize {
        self.files.values().map(|content| content.len()).sum()
    }

    /// Adds a file to the tree, with its parent folders.
    pub fn insert(&mut self, path: TreePath, content: impl Into<Arc<[u8]>>) {
        Arc::make_mut(&mut self.files).insert(path, content.into());
    }

    /// Returns a file with the path of a folder. It hides the files of the folder.
    pub fn file_and_folder(&self) -> Option<&TreePath> {
        self.files.keys().find(|path| self.is_folder(path))
    }

    fn is_folder(&self, path: &TreePath) -> bool {
        // Names sort `/` after `-` and `.`, so the files of a folder may not follow its path directly.
        let inside = TreePath(Arc::from(format!("{}/", path.as_str().trim_end_matches('/'))));
        self.files.range(&inside..).next().is_some_and(|(file, _)| file.is_in(path))
    }
}

impl<P: AsRef<str>, C: Into<Arc<[u8]>>> FromIterator<(P, C)> for MemoryTree {
    fn from_iter<I: IntoIterator<Item = (P, C)>>(files: I) -> Self {
        let entry = |(path, content): (P, C)| (TreePath::new(path.as_ref()), content.into());
        Self { files: Arc::new(files.into_iter().map(entry).collect()) }
    }
}

impl Tree for MemoryTree {
    fn resolve(&self, path: &TreePath) -> Result<ResolvedPath, TreeError> {
        Ok(if self.files.contains_key(path) {
            ResolvedPath::File(path.clone())
        } else if self.is_folder(path) {
            ResolvedPath::Folder(path.clone())
        } else {
            ResolvedPath::Missing
        })
    }

    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError> {
        let missing = || TreeError { path: path.clone(), reason: "no such file".to_owned() };
        self.files.get(path).cloned().ok_or_else(missing)
    }

    fn list(&self, folder: &TreePath) -> Result<Vec<String>, TreeError> {
        let inside = self.files.keys().filter(|file| *file != folder && file.is_in(folder));
        let name = |file: &TreePath| file.relative_to(folder).split('/').next().map(str::to_owned);
        Ok(inside.filter_map(name).collect::<BTreeSet<_>>().into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_path_is_normalized() {
        let folder = TreePath::new("a//b/./c/");
        assert_eq!(folder.as_str(), "/a/b/c");
        assert_eq!(folder.join("../d/x.yaml").as_str(), "/a/b/d/x.yaml");
        assert_eq!(folder.join("/e").as_str(), "/e");
        assert_eq!(folder.join("../../../../e").as_str(), "/e");
        assert_eq!((folder.name(), folder.folder().as_str()), ("c", "/a/b"));
        assert_eq!((TreePath::new("").name(), TreePath::new("").folder().as_str()), ("", "/"));
    }

    #[test]
    fn a_path_is_inside_a_folder_by_whole_components() {
        let folder = TreePath::new("/a/b");
        let inside = |path: &str| TreePath::new(path).is_in(&folder);
        assert!(inside("/a/b") && inside("/a/b/c"));
        assert!(!inside("/a/bc") && !inside("/a"));
        assert_eq!(TreePath::new("/a/c/x").relative_to(&folder), "../c/x");
        assert_eq!(folder.relative_to(&folder), ".");
    }

    #[test]
    fn memory_tree_distinguishes_files_folders_and_missing_paths() {
        let tree: MemoryTree =
            [("/a/b/x", "1"), ("/a/b-c", "2")].into_iter().map(|(p, c)| (p, c.as_bytes())).collect();
        let at = |path: &str| tree.resolve(&TreePath::new(path)).unwrap();
        assert_eq!(at("/a/b/x"), ResolvedPath::File(TreePath::new("/a/b/x")));
        assert_eq!(at("/a/b"), ResolvedPath::Folder(TreePath::new("/a/b")));
        assert_eq!((at("/"), at("/a/b/")), (ResolvedPath::Folder(TreePath::new("/")), at("/a/b")));
        assert_eq!((at("/a/bb"), at("/c")), (ResolvedPath::Missing, ResolvedPath::Missing));
        assert_eq!(tree.read(&TreePath::new("/a")).unwrap_err().path, TreePath::new("/a"));
        assert_eq!(tree.list(&TreePath::new("/a")).unwrap(), ["b", "b-c"]);
    }
}
