use std::{collections::HashSet, fmt::Write as _, path::Path};

use kustomize::{BuildProblem, FetchRequest, FetchResults, FetchedContent, RemoteEntry, TreePath};
use manifest::{Object, provenance::FieldOrigin};

use super::disk::{BuildRoot, tree_path};

/// Returns the folder or URL of a kustomization without credentials.
pub(crate) fn shown_location(place: &str) -> String {
    RemoteEntry::of_entry(place).map_or_else(|| place.to_owned(), |remote| remote.redacted())
}

/// Returns each problem of a location once, with the first path to the file. Several overlays may share a base.
pub(crate) fn distinct_problems(problems: &[BuildProblem]) -> Vec<&BuildProblem> {
    let mut seen = HashSet::new();
    let key = |it: &BuildProblem| {
        (it.location.files.last().cloned(), it.location.field.clone(), it.error.to_string())
    };
    problems.iter().filter(|it| seen.insert(key(it))).collect()
}

/// The display names of files in a tree. Files in the current folder have relative paths, and files in a remote copy
/// have an address.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileNames {
    current: Option<TreePath>,
    copies: Vec<(String, TreePath)>,
}

impl FileNames {
    pub(crate) fn relative_to(current: &Path) -> Self {
        let current = current.canonicalize().ok().as_deref().and_then(tree_path);
        Self { current, copies: Vec::new() }
    }

    /// Adds the remote copy that the build starts in, if any.
    pub(super) fn with_root(mut self, place: &str, start: &BuildRoot) -> Self {
        self.copies.extend(start.copy_root.clone().map(|top| (place.to_owned(), top)));
        self
    }

    pub(super) fn with_fetched(mut self, answers: &FetchResults) -> Self {
        let given = answers.iter().filter_map(|(request, answer)| match (request, answer) {
            (FetchRequest::Remote(remote), Ok(answer)) => Some((remote.redacted(), answer)),
            _ => None,
        });
        self.copies.extend(given.map(|(address, answer)| match answer {
            FetchedContent::Folder { top, .. } => (address, top.clone()),
            FetchedContent::Bytes(_) => {
                let path = TreePath::new(&address);
                (address, path)
            }
        }));
        self
    }

    /// Returns the name of a file in a remote copy: the address, and the path in the repository.
    pub(super) fn name_in_copy(&self, file: &TreePath) -> Option<String> {
        let (address, top) = self.copies.iter().find(|(_, top)| file.is_in(top))?;
        Some(if file == top { address.clone() } else { format!("{address}: {}", file.relative_to(top)) })
    }

    fn name(&self, file: &TreePath) -> String {
        self.name_in_copy(file).unwrap_or_else(|| match &self.current {
            Some(current) if file.is_in(current) => file.relative_to(current),
            _ => file.to_string(),
        })
    }

    /// Returns the files that led to a problem, outermost first. The last file contains the problem.
    pub(crate) fn problem_files(&self, problem: &BuildProblem) -> Vec<String> {
        problem.location.files.iter().map(|file| self.name(file)).collect()
    }

    /// Returns a problem or warning as text: the file, the field, the problem, and the files that lead to it.
    pub(crate) fn problem_text(&self, problem: &BuildProblem) -> String {
        let mut files = self.problem_files(problem);
        let mut text = files.pop().unwrap_or_default();
        if !problem.location.field.is_empty() {
            let _ = write!(text, ": {}", problem.location.field);
        }
        let _ = write!(text, ": {}", problem.message());
        if !files.is_empty() {
            let _ = write!(text, " (included by {})", files.join(", "));
        }
        text
    }

    /// Replaces the file names in the field origins of objects.
    pub(crate) fn rename_origins(&self, objects: &mut [Object]) {
        let file = |text: &str| {
            if text.starts_with('/') { self.name(&TreePath::new(text)) } else { text.to_owned() }
        };
        for object in objects {
            object.map_origins(|setter| FieldOrigin {
                file: file(&setter.file),
                field: setter.field.clone(),
                content: file(&setter.content),
            });
        }
    }
}
