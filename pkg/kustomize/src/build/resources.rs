//! `resources`: files, folders and what is elsewhere, left to right.

use std::sync::Arc;

use crate::accumulator::Accumulator;
use crate::kustomization::Kind;
use crate::problems::ProblemKind;
use crate::request::{Answer, Remote, Request};
use crate::{Resolved, TreePath};

use super::root::Root;
use super::{Scope, target};

/// Adds what the entries of `resources` hold.
pub(super) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for (index, entry) in scope.kustomization.resources.iter().enumerate() {
        add(scope, &format!("resources[{index}]"), entry, objects);
    }
}

/// Adds what one entry leads to; what cannot be loaded is reported, and noted.
pub(crate) fn add(scope: &mut Scope<'_, '_>, field: &str, entry: &str, objects: &mut Accumulator) {
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
            let (root, kustomization) = root.open(scope.session)?;
            if kustomization.kind == Kind::Component {
                scope.problem(field, ProblemKind::ComponentAsResource(root.folder.clone()));
                return None;
            }
            let mut gathered = Accumulator::default();
            target::build(&mut scope.of(&root, &kustomization), &mut gathered);
            for clash in objects.absorb(gathered) {
                scope.problem(field, clash);
            }
        }
    }
    Some(())
}

/// What an entry leads to.
pub(super) enum Found {
    File(TreePath),
    /// A file from elsewhere, under its address.
    Bytes(TreePath, Arc<[u8]>),
    Root(Root),
}

/// Finds what an entry leads to; nothing, and a folder that may not be entered, is reported.
pub(super) fn find(scope: &mut Scope<'_, '_>, field: &str, entry: &str) -> Option<Found> {
    match scope.resolve(field, entry)? {
        Resolved::File(file) => Some(Found::File(file)),
        Resolved::Folder(_) if entry.starts_with('/') => {
            scope.problem(field, ProblemKind::Absolute(entry.to_owned()));
            None
        }
        Resolved::Folder(folder) => enter(scope, field, folder, None),
        Resolved::Missing => find_elsewhere(scope, field, entry),
    }
}

fn find_elsewhere(scope: &mut Scope<'_, '_>, field: &str, entry: &str) -> Option<Found> {
    let Some(remote) = Remote::of_entry(entry) else {
        let path = scope.root.folder.join(entry);
        scope.problem(field, ProblemKind::Missing { entry: entry.to_owned(), path });
        return None;
    };
    let shown = remote.shown();
    match scope.ask(field, &shown, Request::Remote(remote))? {
        Answer::Folder { top, root } => enter(scope, field, root, Some(top)),
        Answer::Bytes(bytes) => Some(Found::Bytes(TreePath::new(&shown), bytes)),
    }
}

fn enter(scope: &mut Scope<'_, '_>, field: &str, folder: TreePath, top: Option<TreePath>) -> Option<Found> {
    match scope.root.enter(folder, top) {
        Ok(root) => Some(Found::Root(root)),
        Err(kind) => {
            scope.problem(field, kind);
            None
        }
    }
}
