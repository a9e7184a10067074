//! A folder with a kustomization, and the chain of folders that led to it.

use std::sync::Arc;

use crate::kustomization::FILE_NAMES;
use crate::report::{BuildLocation, StepError};
use crate::{ResolvedPath, Tree, TreePath};

/// Limit for nested folders of kustomizations; a deeper tree is rejected.
const MAX_LEVELS: usize = 200;

/// A folder with a kustomization.
#[derive(Debug)]
pub(crate) struct Root {
    /// The folder, after resolving links.
    pub(crate) folder: TreePath,
    /// The kustomization file; the folder until a file is found.
    pub(crate) file: TreePath,
    /// The top of the copy of a repository; no path may leave the copy.
    top: Option<TreePath>,
    /// The namespace set by the kustomization; empty for none.
    pub(super) namespace: String,
    parent: Option<Arc<Root>>,
}

/// A folder that cannot be a root here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RootError {
    #[error("cycle detected: `{candidate}` contains `{visited}`, which includes it")]
    Cycle { candidate: TreePath, visited: TreePath },
    #[error("kustomizations are nested more than {MAX_LEVELS} levels deep")]
    TooDeep,
    #[error("`{folder}` is outside `{top}`")]
    Outside { folder: TreePath, top: TreePath },
    #[error("`{0}` contains no `kustomization.yaml`, `kustomization.yml` or `Kustomization`")]
    NoKustomization(TreePath),
    #[error("`{folder}` contains several kustomization files ({}): keep one", found.join(", "))]
    SeveralKustomizations { folder: TreePath, found: Vec<&'static str> },
}

impl Root {
    /// Returns the root of the whole build.
    pub(crate) fn first(folder: TreePath, top: Option<TreePath>) -> Self {
        Self { file: folder.clone(), folder, top, namespace: String::new(), parent: None }
    }

    /// The top of the copy of a repository that contains this root.
    pub(crate) fn copy_top(&self) -> Option<&TreePath> {
        self.top.as_ref()
    }

    /// Enters a folder from this root. With `top`, the folder is in a repository copy of its own.
    /// # Errors
    /// `Cycle`, `TooDeep`, and `Outside` for a folder outside the copy of the repository.
    pub(crate) fn enter(
        self: &Arc<Self>,
        folder: TreePath,
        top: Option<TreePath>,
    ) -> Result<Self, RootError> {
        if let Some(visited) = self.ancestors().find(|root| root.folder.is_in(&folder)) {
            return Err(RootError::Cycle { candidate: folder, visited: visited.folder.clone() });
        }
        if self.ancestors().count() >= MAX_LEVELS {
            return Err(RootError::TooDeep);
        }
        let top = top.or_else(|| self.top.clone());
        if let Some(top) = top.as_ref().filter(|top| !folder.is_in(top)) {
            return Err(RootError::Outside { folder, top: top.clone() });
        }
        let parent = Some(Arc::clone(self));
        Ok(Self { file: folder.clone(), folder, top, namespace: String::new(), parent })
    }

    /// True if the root is in a copy of a repository; its files are trusted less than local files.
    pub(super) fn is_copy(&self) -> bool {
        self.top.is_some()
    }

    /// Returns a place in the kustomization of this root.
    pub(crate) fn location(&self, field: &str) -> BuildLocation {
        let mut files: Vec<TreePath> = self.ancestors().map(|root| root.file.clone()).collect();
        files.reverse();
        BuildLocation { files, field: field.to_owned() }
    }

    /// Returns the namespace set by this root, else by its nearest ancestor.
    pub(crate) fn namespace(&self) -> &str {
        self.ancestors()
            .map(|root| &*root.namespace)
            .find(|namespace| !namespace.is_empty())
            .unwrap_or_default()
    }

    /// Finds the file of the kustomization.
    /// # Errors
    /// No such file, several, or an error of the tree.
    pub(super) fn find_file(&self, tree: &dyn Tree) -> Result<TreePath, Vec<StepError>> {
        let mut found = Vec::new();
        for name in FILE_NAMES {
            match tree.resolve(&self.folder.join(name)) {
                Ok(ResolvedPath::File(file)) => found.push((name, file)),
                Ok(ResolvedPath::Folder(_) | ResolvedPath::Missing) => {}
                Err(error) => return Err(vec![error.into()]),
            }
        }
        let folder = || self.folder.clone();
        if found.len() > 1 {
            let found = found.into_iter().map(|(name, _)| name).collect();
            return Err(vec![RootError::SeveralKustomizations { folder: folder(), found }.into()]);
        }
        let only = found.pop().map(|(_, file)| file);
        only.ok_or_else(|| vec![RootError::NoKustomization(folder()).into()])
    }

    /// Iterates over this root and its ancestors, innermost first.
    fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |root| root.parent.as_deref())
    }
}
