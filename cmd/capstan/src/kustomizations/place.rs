use std::{collections::HashSet, fmt::Write as _, path::Path};

use kustomize::{Problem, TreePath};

use super::disk::tree_path;

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

fn shown(file: &TreePath, current: Option<&TreePath>) -> String {
    match current {
        Some(current) if file.is_in(current) => file.relative_to(current),
        _ => file.to_string(),
    }
}
