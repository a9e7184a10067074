//! The folder of a target. Nothing is written outside of it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::error::InputError;

/// The folder of a target.
#[derive(Clone, Debug)]
pub(super) struct OutputTree {
    root: PathBuf,
}

impl OutputTree {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns a folder in the tree.
    pub(super) fn folder(&self, path: &str) -> Result<Self, InputError> {
        Ok(Self { root: self.path(path)? })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file or folder in the tree.
    pub(super) fn path(&self, relative: &str) -> Result<PathBuf, InputError> {
        let mut path = self.root.clone();
        for component in Path::new(relative).components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                _ => return Err(InputError::Outside { path: relative.to_owned() }),
            }
        }
        Ok(path)
    }

    /// Creates the folder.
    pub(super) fn create(&self) -> Result<(), InputError> {
        fs::create_dir_all(&self.root).map_err(InputError::write(&self.root))
    }

    /// Writes a file, and its folders.
    pub(super) fn write(&self, relative: &str, content: &[u8]) -> Result<PathBuf, InputError> {
        let path = self.path(relative)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(InputError::write(folder))?;
        }
        // A link of a copied tree must not lead a later file out of the folder.
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(&path).map_err(InputError::write(&path))?;
        }
        fs::write(&path, content).map_err(InputError::write(&path))?;
        Ok(path)
    }
}
