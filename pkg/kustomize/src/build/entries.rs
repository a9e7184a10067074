//! `resources` and `components`: files, folders and addresses, left to right. A component changes all objects gathered
//! before it.

use std::sync::Arc;

use crate::accumulator::Accumulator;
use crate::kustomization::Kind;
use crate::request::{Answer, Remote, Request};
use crate::scope::{Root, Scope};
use crate::{Resolved, TreePath};

use super::target;

/// An entry of the wrong kind.
#[derive(Debug, thiserror::Error)]
enum EntryProblem {
    #[error("`{0}` is absolute; a folder is named by a relative path")]
    Absolute(String),
    #[error("`{0}` is of kind Component: list it under `components`")]
    ComponentAsResource(TreePath),
    #[error("`{0}` is a file; a component is a folder with a kustomization")]
    NotAFolder(String),
    #[error("`{0}` is of kind Kustomization, a Component is needed here: list it under `resources`")]
    NotAComponent(TreePath),
}

/// Adds the objects of the entries of `resources`.
pub(super) fn run_resources(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for (index, entry) in scope.kustomization.resources.iter().enumerate() {
        add_resource(scope, &format!("resources[{index}]"), entry, objects);
    }
}

/// Builds the components onto the objects of the kustomization that lists them.
pub(super) fn run_components(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for (index, entry) in scope.kustomization.components.iter().enumerate() {
        if add_component(scope, &format!("components[{index}]"), entry, objects).is_none() {
            objects.is_partial = true;
        }
    }
}

/// Adds the objects of one entry. If loading fails, reports the error and marks the accumulator as partial.
pub(crate) fn add_resource(scope: &mut Scope<'_, '_>, field: &str, entry: &str, objects: &mut Accumulator) {
    if load(scope, field, entry, objects).is_none() {
        objects.is_partial = true;
    }
}

fn load(scope: &mut Scope<'_, '_>, field: &str, entry: &str, objects: &mut Accumulator) -> Option<()> {
    match find(scope, field, entry)? {
        Found::File(file) => {
            let read = scope.read_objects(field, &file)?;
            scope.add(field, &read, &file, objects);
        }
        Found::Bytes(file, bytes) => {
            let read = scope.parse_objects(field, &file, &bytes)?;
            scope.add(field, &read, &file, objects);
        }
        Found::Root(root) => {
            let (root, kustomization) = scope.session.open(root)?;
            if kustomization.kind == Kind::Component {
                scope.problem(field, EntryProblem::ComponentAsResource(root.folder.clone()));
                return None;
            }
            let mut gathered = Accumulator::default();
            target::build(&mut scope.of(&root, &kustomization), &mut gathered);
            scope.problems(field, objects.absorb(gathered));
        }
    }
    Some(())
}

fn add_component(
    scope: &mut Scope<'_, '_>,
    field: &str,
    entry: &str,
    objects: &mut Accumulator,
) -> Option<()> {
    let Found::Root(root) = find(scope, field, entry)? else {
        scope.problem(field, EntryProblem::NotAFolder(entry.to_owned()));
        return None;
    };
    let (root, kustomization) = scope.session.open(root)?;
    if kustomization.kind != Kind::Component {
        scope.problem(field, EntryProblem::NotAComponent(root.folder.clone()));
        return None;
    }
    target::build(&mut scope.of(&root, &kustomization), objects);
    Some(())
}

/// The target of an entry.
enum Found {
    File(TreePath),
    /// A remote file, under its address.
    Bytes(TreePath, Arc<[u8]>),
    Root(Root),
}

/// Finds the target of an entry. Reports a missing target and a folder that may not be entered.
fn find(scope: &mut Scope<'_, '_>, field: &str, entry: &str) -> Option<Found> {
    let root = match scope.resolve(field, entry)? {
        Resolved::File(file) => return Some(Found::File(file)),
        Resolved::Folder(_) if entry.starts_with('/') => {
            scope.problem(field, EntryProblem::Absolute(entry.to_owned()));
            return None;
        }
        Resolved::Folder(folder) => scope.root.enter(folder, None),
        Resolved::Missing => {
            let Some(remote) = Remote::of_entry(entry) else {
                scope.missing(field, entry);
                return None;
            };
            let shown = remote.shown();
            match scope.ask(field, &shown, Request::Remote(remote))? {
                Answer::Folder { top, root } => scope.root.enter(root, Some(top)),
                Answer::Bytes(bytes) => return Some(Found::Bytes(TreePath::new(&shown), bytes)),
            }
        }
    };
    scope.ok(field, root).map(Found::Root)
}
