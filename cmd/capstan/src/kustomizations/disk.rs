use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use kustomize::{ResolvedPath, Tree, TreeError, TreePath};
use transport::disk::read_file;

/// The folder of a kustomization, and the root of the fetched copy that contains the folder.
#[derive(Debug)]
pub(super) struct BuildRoot {
    pub(super) folder: TreePath,
    pub(super) copy_root: Option<TreePath>,
}

/// The disk in the form of a build: absolute paths, resolved links, each file read once.
pub(crate) struct DiskTree {
    max_file_bytes: u64,
    resolved: RefCell<HashMap<TreePath, ResolvedPath>>,
    files: RefCell<HashMap<TreePath, Arc<[u8]>>>,
}

impl DiskTree {
    pub(crate) fn new(max_file_bytes: u64) -> Self {
        Self { max_file_bytes, resolved: RefCell::default(), files: RefCell::default() }
    }

    /// Returns all paths that were looked up: files, folders and missing ones.
    pub(crate) fn looked_up(&self) -> Vec<PathBuf> {
        self.resolved.borrow().keys().map(disk_path).collect()
    }

    /// Resolves a name in a folder whose path has no links. `None` if the name is a link or missing.
    fn resolve_in_real_folder(&self, path: &TreePath) -> Option<ResolvedPath> {
        let folder = path.folder();
        let is_real = matches!(self.resolved.borrow().get(&folder), Some(ResolvedPath::Folder(real)) if *real == folder);
        let kind = is_real.then(|| fs::symlink_metadata(disk_path(path)).ok())??;
        if kind.is_dir() {
            Some(ResolvedPath::Folder(path.clone()))
        } else {
            kind.is_file().then(|| ResolvedPath::File(path.clone()))
        }
    }

    fn resolve_on_disk(path: &TreePath) -> io::Result<ResolvedPath> {
        let real = match fs::canonicalize(disk_path(path)) {
            Ok(real) => real,
            // A path below a file is missing too.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(ResolvedPath::Missing);
            }
            Err(error) => return Err(error),
        };
        let kind = fs::metadata(&real)?;
        let real = tree_path(&real).ok_or_else(|| io::Error::other("the file name is not valid UTF-8"))?;
        if kind.is_dir() {
            Ok(ResolvedPath::Folder(real))
        } else if kind.is_file() {
            Ok(ResolvedPath::File(real))
        } else {
            Err(io::Error::other("the path is neither a file nor a folder"))
        }
    }

    fn names_in(folder: &TreePath) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(disk_path(folder))? {
            let name = entry?.file_name().into_string();
            names.push(name.map_err(|_| io::Error::other("a file name is not valid UTF-8"))?);
        }
        names.sort_unstable();
        Ok(names)
    }
}

impl Tree for DiskTree {
    fn resolve(&self, path: &TreePath) -> Result<ResolvedPath, TreeError> {
        if let Some(known) = self.resolved.borrow().get(path) {
            return Ok(known.clone());
        }
        let found = match self.resolve_in_real_folder(path) {
            Some(found) => found,
            None => Self::resolve_on_disk(path).map_err(|error| tree_error(path, &error))?,
        };
        if let ResolvedPath::Folder(real) = &found {
            self.resolved.borrow_mut().insert(real.clone(), found.clone());
        }
        self.resolved.borrow_mut().insert(path.clone(), found.clone());
        Ok(found)
    }

    fn list(&self, folder: &TreePath) -> Result<Vec<String>, TreeError> {
        Self::names_in(folder).map_err(|error| tree_error(folder, &error))
    }

    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError> {
        if let Some(known) = self.files.borrow().get(path) {
            return Ok(Arc::clone(known));
        }
        let bytes: Arc<[u8]> = read_file(&disk_path(path), self.max_file_bytes)
            .map_err(|error| tree_error(path, &error))?
            .into();
        self.files.borrow_mut().insert(path.clone(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

fn tree_error(path: &TreePath, error: &io::Error) -> TreeError {
    TreeError { path: path.clone(), reason: error.to_string() }
}

/// Converts a disk path to a tree path. `None` if the path is not UTF-8.
pub(crate) fn tree_path(path: &Path) -> Option<TreePath> {
    let text = path.to_str()?;
    if cfg!(windows) {
        return Some(TreePath::new(&text.trim_start_matches(r"\\?\").replace('\\', "/")));
    }
    Some(TreePath::new(text))
}

pub(super) fn disk_path(path: &TreePath) -> PathBuf {
    let text = path.as_str();
    PathBuf::from(if cfg!(windows) { text.trim_start_matches('/') } else { text })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use snapbox::{assert_data_eq, str};

    use super::*;

    const LIMIT: u64 = 10;

    #[test]
    fn links_are_resolved_to_files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        fs::create_dir(real.join("a")).unwrap();
        fs::write(real.join("a/x"), "1").unwrap();
        symlink("a", real.join("link")).unwrap();
        symlink("ring", real.join("ring")).unwrap();
        let tree = DiskTree::new(LIMIT);
        let at = |name: &str| tree_path(&real).unwrap().join(name);
        let of = |name: &str| tree.resolve(&at(name)).unwrap();
        assert_eq!(of("link/x"), ResolvedPath::File(at("a/x")));
        assert_eq!(of("link"), ResolvedPath::Folder(at("a")));
        // The folder of these names is known not to be a link.
        assert_eq!((of("a"), of("a/x")), (ResolvedPath::Folder(at("a")), ResolvedPath::File(at("a/x"))));
        assert_eq!((of("none"), of("a/x/y")), (ResolvedPath::Missing, ResolvedPath::Missing));
        assert!(tree.resolve(&at("ring")).is_err());
        assert_data_eq!(
            tree.resolve(&TreePath::new("/dev/null")).unwrap_err().to_string(),
            str!["cannot read `/dev/null`: the path is neither a file nor a folder"]
        );
    }

    #[test]
    fn a_file_is_read_once_and_never_past_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = tree_path(&folder.path().canonicalize().unwrap()).unwrap().join("x");
        let tree = DiskTree::new(LIMIT);
        fs::write(path.as_str(), "0123456789").unwrap();
        assert_eq!(&*tree.read(&path).unwrap(), b"0123456789");
        fs::write(path.as_str(), "0123456789a").unwrap();
        assert_eq!(&*tree.read(&path).unwrap(), b"0123456789");
        let reported = DiskTree::new(LIMIT).read(&path).unwrap_err().to_string();
        assert_data_eq!(
            reported.replace(path.as_str(), "[FILE]"),
            str!["cannot read `[FILE]`: the file is larger than 10 bytes"]
        );
    }
}

pub(super) struct RecordingTree<T> {
    tree: T,
    read_files: RefCell<BTreeMap<TreePath, Arc<[u8]>>>,
}

impl<T> RecordingTree<T> {
    pub(super) fn new(tree: T) -> Self {
        Self { tree, read_files: RefCell::default() }
    }

    /// Returns all files that were read, by canonical path.
    pub(super) fn into_read_files(self) -> BTreeMap<TreePath, Arc<[u8]>> {
        self.read_files.into_inner()
    }
}

impl<T: Tree> Tree for RecordingTree<T> {
    fn resolve(&self, path: &TreePath) -> Result<ResolvedPath, TreeError> {
        self.tree.resolve(path)
    }

    fn list(&self, folder: &TreePath) -> Result<Vec<String>, TreeError> {
        self.tree.list(folder)
    }

    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError> {
        let bytes = self.tree.read(path)?;
        self.read_files.borrow_mut().insert(path.clone(), Arc::clone(&bytes));
        Ok(bytes)
    }
}
