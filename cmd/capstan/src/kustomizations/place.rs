use std::{collections::HashSet, fmt::Write as _, path::Path};

use kustomize::{Answer, Answers, Problem, Remote, Request, TreePath};
use manifest::{Object, provenance::Setter};

use super::disk::{Start, tree_path};

/// The folder or url of a kustomization as people may see it.
pub(crate) fn shown_place(place: &str) -> String {
    Remote::of_entry(place).map_or_else(|| place.to_owned(), |remote| remote.shown())
}

/// Each problem of a place once, by the first of the ways to it: several overlays may share a base.
pub(crate) fn distinct(problems: &[Problem]) -> Vec<&Problem> {
    let mut seen = HashSet::new();
    let key = |it: &Problem| (it.place.files.last().cloned(), it.place.field.clone(), it.error.to_string());
    problems.iter().filter(|it| seen.insert(key(it))).collect()
}

/// What the files of a tree are called before people: those in the current folder as seen from it, those in a copy of
/// something elsewhere by its address.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileNames {
    current: Option<TreePath>,
    copies: Vec<(String, TreePath)>,
}

impl FileNames {
    pub(crate) fn seen_from(current: &Path) -> Self {
        let current = current.canonicalize().ok().as_deref().and_then(tree_path);
        Self { current, copies: Vec::new() }
    }

    /// The same with the copy a build begins in, if it does.
    pub(super) fn with_start(mut self, place: &str, start: &Start) -> Self {
        self.copies.extend(start.top.clone().map(|top| (place.to_owned(), top)));
        self
    }

    pub(super) fn with_answers(mut self, answers: &Answers) -> Self {
        let given = answers.iter().filter_map(|(request, answer)| match (request, answer) {
            (Request::Remote(remote), Ok(answer)) => Some((remote.shown(), answer)),
            _ => None,
        });
        self.copies.extend(given.map(|(address, answer)| match answer {
            Answer::Folder { top, .. } => (address, top.clone()),
            Answer::Bytes(_) => {
                let path = TreePath::new(&address);
                (address, path)
            }
        }));
        self
    }

    /// The name of a file of a copy: the address, and the path in a repository.
    pub(super) fn in_copy(&self, file: &TreePath) -> Option<String> {
        let (address, top) = self.copies.iter().find(|(_, top)| file.is_in(top))?;
        Some(if file == top { address.clone() } else { format!("{address}: {}", file.relative_to(top)) })
    }

    fn of(&self, file: &TreePath) -> String {
        self.in_copy(file).unwrap_or_else(|| match &self.current {
            Some(current) if file.is_in(current) => file.relative_to(current),
            _ => file.to_string(),
        })
    }

    /// The files that led to a problem, outermost first, and last the one it is in.
    pub(crate) fn of_problem(&self, problem: &Problem) -> Vec<String> {
        problem.place.files.iter().map(|file| self.of(file)).collect()
    }

    /// A problem or a warning as people read it: the file it is in, the field, what is wrong, and the way there.
    pub(crate) fn in_short(&self, problem: &Problem) -> String {
        let mut files = self.of_problem(problem);
        let mut text = files.pop().unwrap_or_default();
        if !problem.place.field.is_empty() {
            let _ = write!(text, ": {}", problem.place.field);
        }
        let _ = write!(text, ": {}", problem.message());
        if !files.is_empty() {
            let _ = write!(text, " (by way of {})", files.join(", "));
        }
        text
    }

    /// Tells what set the fields of objects by these names.
    pub(crate) fn name_setters(&self, objects: &mut [Object]) {
        let file =
            |text: &str| if text.starts_with('/') { self.of(&TreePath::new(text)) } else { text.to_owned() };
        for object in objects {
            object.map_setters(|setter| Setter {
                file: file(&setter.file),
                field: setter.field.clone(),
                content: file(&setter.content),
            });
        }
    }
}
