use std::{collections::HashSet, fmt::Write as _, path::Path};

use kustomize::{Answer, Answers, Problem, Remote, Request, TreePath};
use manifest::{Object, provenance::Setter};

use super::disk::tree_path;

/// The folder or url of a kustomization as people may see it.
pub(crate) fn shown_place(place: &str) -> String {
    Remote::of_entry(place).map_or_else(|| place.to_owned(), |remote| remote.shown())
}

/// A problem or a warning as people read it: the file it is in, the field, what is wrong, and the way there.
/// Paths in the current folder are seen from it.
pub(crate) fn in_short(problem: &Problem, current: &Path) -> String {
    let mut files = shown_files(problem, current);
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

/// Each problem of a place once, by the first of the ways to it: several overlays may share a base.
pub(crate) fn distinct(problems: &[Problem]) -> Vec<&Problem> {
    let mut seen = HashSet::new();
    let key = |it: &Problem| (it.place.files.last().cloned(), it.place.field.clone(), it.kind.to_string());
    problems.iter().filter(|it| seen.insert(key(it))).collect()
}

/// The files that led to a problem, outermost first, and last the one it is in.
pub(crate) fn shown_files(problem: &Problem, current: &Path) -> Vec<String> {
    let current = current.canonicalize().ok().as_deref().and_then(tree_path);
    problem.place.files.iter().map(|file| shown(file, current.as_ref())).collect()
}

/// What a build was given from elsewhere, by address and where it is in the tree.
pub(super) fn copies(answers: &Answers) -> Vec<(String, TreePath)> {
    let given = answers.iter().filter_map(|(request, answer)| match (request, answer) {
        (Request::Remote(remote), Ok(answer)) => Some((remote.shown(), answer)),
        _ => None,
    });
    let copy = |(address, answer): (String, &Answer)| match answer {
        Answer::Folder { top, .. } => (address, top.clone()),
        Answer::Bytes(_) => {
            let path = TreePath::new(&address);
            (address, path)
        }
    };
    given.map(copy).collect()
}

/// A file of a copy as people know it: the address, and the path in a repository.
pub(super) fn in_copy(file: &TreePath, copies: &[(String, TreePath)]) -> Option<String> {
    let (address, top) = copies.iter().find(|(_, top)| file.is_in(top))?;
    Some(if file == top { address.clone() } else { format!("{address}: {}", file.relative_to(top)) })
}

/// Tells what set the fields of objects as people know the files: those in the current folder as seen from it, those in
/// copies by their address.
pub(crate) fn show_setters(objects: &mut [Object], copies: &[(String, TreePath)], current: &Path) {
    let current = current.canonicalize().ok().as_deref().and_then(tree_path);
    let file = |text: &str| {
        if !text.starts_with('/') {
            return text.to_owned();
        }
        let path = TreePath::new(text);
        in_copy(&path, copies).unwrap_or_else(|| shown(&path, current.as_ref()))
    };
    for object in objects {
        object.map_setters(|setter| Setter {
            file: file(&setter.file),
            field: setter.field.clone(),
            content: file(&setter.content),
        });
    }
}

fn shown(file: &TreePath, current: Option<&TreePath>) -> String {
    match current {
        Some(current) if file.is_in(current) => file.relative_to(current),
        _ => file.to_string(),
    }
}
