//! A folder with a kustomization, and how the build came to it.

use std::sync::Arc;

use crate::kustomization::{FILE_NAMES, Kustomization};
use crate::problems::{Place, Problem, ProblemKind};
use crate::{Resolved, TreePath};

use super::Session;

/// Folders that lead to folders, at most; what is deeper is no honest tree.
const MOST_LEVELS: usize = 200;

/// A root.
#[derive(Debug)]
pub(crate) struct Root {
    /// Its folder, after links.
    pub(crate) folder: TreePath,
    /// Its kustomization; the folder as long as none is found.
    pub(crate) file: TreePath,
    /// The copy of a repository it is in, which it may not leave.
    top: Option<TreePath>,
    /// The namespace its kustomization sets, empty for none.
    namespace: String,
    parent: Option<Arc<Root>>,
}

impl Root {
    /// The root a build begins with.
    pub(super) fn first(folder: TreePath, top: Option<TreePath>) -> Self {
        Self { file: folder.clone(), folder, top, namespace: String::new(), parent: None }
    }

    /// Enters a folder from this root; `top` where it is in a copy of a repository of its own.
    /// # Errors
    /// `Cycle`, `TooDeep`, and `Outside` for a folder outside the copy of the repository.
    pub(super) fn enter(
        self: &Arc<Self>,
        folder: TreePath,
        top: Option<TreePath>,
    ) -> Result<Self, ProblemKind> {
        if let Some(visited) = self.way().find(|root| root.folder.is_in(&folder)) {
            return Err(ProblemKind::Cycle { candidate: folder, visited: visited.folder.clone() });
        }
        if self.way().count() >= MOST_LEVELS {
            return Err(ProblemKind::TooDeep { limit: MOST_LEVELS });
        }
        let top = top.or_else(|| self.top.clone());
        if let Some(root) = top.as_ref().filter(|top| !folder.is_in(top)) {
            return Err(ProblemKind::Outside { file: folder, root: root.clone() });
        }
        let parent = Some(Arc::clone(self));
        Ok(Self { file: folder.clone(), folder, top, namespace: String::new(), parent })
    }

    /// Whether it is in a copy of a repository, whose files are trusted less than those of the user.
    pub(super) fn is_copy(&self) -> bool {
        self.top.is_some()
    }

    /// A place in the kustomization of this root.
    pub(crate) fn place(&self, field: &str) -> Place {
        let mut files: Vec<TreePath> = self.way().map(|root| root.file.clone()).collect();
        files.reverse();
        Place { files, field: field.to_owned() }
    }

    /// The namespace that is set by this root, else by the nearest of those that led to it.
    pub(crate) fn namespace(&self) -> &str {
        self.way().map(|root| &*root.namespace).find(|namespace| !namespace.is_empty()).unwrap_or_default()
    }

    /// Finds and reads the kustomization; what is wrong with it is reported.
    pub(super) fn open(mut self, session: &mut Session<'_>) -> Option<(Arc<Self>, Kustomization)> {
        let read = self.find(session).and_then(|file| {
            self.file = file;
            let bytes = session.tree.read(&self.file).map_err(|error| vec![error.into()])?;
            Kustomization::read(&self.file, &bytes)
        });
        let located = |kind| Problem { place: self.place(""), kind };
        match read {
            Ok((kustomization, warnings)) => {
                session.problems.warnings.extend(warnings.into_iter().map(located));
                self.namespace.clone_from(&kustomization.namespace);
                Some((Arc::new(self), kustomization))
            }
            Err(kinds) => {
                session.problems.errors.extend(kinds.into_iter().map(located));
                None
            }
        }
    }

    fn find(&self, session: &Session<'_>) -> Result<TreePath, Vec<ProblemKind>> {
        let mut found = Vec::new();
        for name in FILE_NAMES {
            match session.tree.resolve(&self.folder.join(name)) {
                Ok(Resolved::File(file)) => found.push((name, file)),
                Ok(Resolved::Folder(_) | Resolved::Missing) => {}
                Err(error) => return Err(vec![error.into()]),
            }
        }
        if found.len() > 1 {
            let found = found.into_iter().map(|(name, _)| name).collect();
            return Err(vec![ProblemKind::SeveralKustomizations { folder: self.folder.clone(), found }]);
        }
        found
            .pop()
            .map(|(_, file)| file)
            .ok_or_else(|| vec![ProblemKind::NoKustomization(self.folder.clone())])
    }

    /// This root and those that led to it, innermost first.
    fn way(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |root| root.parent.as_deref())
    }
}
