//! `resources` and `components`: files, folders and addresses, left to right. A component changes all objects gathered
//! before it.

use std::sync::Arc;

use crate::accumulator::Accumulator;
use crate::kustomization::KustomizationKind;
use crate::request::{FetchRequest, FetchedContent, RemoteEntry};
use crate::scope::{Root, Scope};
use crate::{ResolvedPath, TreePath};

use super::target;

/// An entry of the wrong kind.
#[derive(Debug, thiserror::Error)]
enum EntryError {
    #[error("`{0}` must be a relative path")]
    Absolute(String),
    #[error("`{0}` is of kind Component: list it under `components`")]
    ComponentAsResource(TreePath),
    #[error("`{0}` is a file; a component must be a folder with a kustomization")]
    NotAFolder(String),
    #[error("`{0}` is of kind Kustomization: list it under `resources`")]
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
        EntryTarget::File(file) => {
            let read = scope.read_objects(field, &file)?;
            scope.add(field, &read, &file, objects);
        }
        EntryTarget::RemoteFile(file, bytes) => {
            let read = scope.parse_objects(field, &file, &bytes)?;
            scope.add(field, &read, &file, objects);
        }
        EntryTarget::Root(root) => {
            let (root, kustomization) = scope.session.open(root)?;
            if kustomization.kind == KustomizationKind::Component {
                scope.report(field, EntryError::ComponentAsResource(root.folder.clone()));
                return None;
            }
            let mut gathered = Accumulator::default();
            target::build(&mut scope.of(&root, &kustomization), &mut gathered);
            scope.report_all(field, objects.absorb(gathered));
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
    let EntryTarget::Root(root) = find(scope, field, entry)? else {
        scope.report(field, EntryError::NotAFolder(entry.to_owned()));
        return None;
    };
    let (root, kustomization) = scope.session.open(root)?;
    if kustomization.kind != KustomizationKind::Component {
        scope.report(field, EntryError::NotAComponent(root.folder.clone()));
        return None;
    }
    target::build(&mut scope.of(&root, &kustomization), objects);
    Some(())
}

/// The target of an entry.
enum EntryTarget {
    File(TreePath),
    /// A remote file, under its address.
    RemoteFile(TreePath, Arc<[u8]>),
    Root(Root),
}

/// Finds the target of an entry. Reports a missing target and a folder that may not be entered.
fn find(scope: &mut Scope<'_, '_>, field: &str, entry: &str) -> Option<EntryTarget> {
    let root = match scope.resolve(field, entry)? {
        ResolvedPath::File(file) => return Some(EntryTarget::File(file)),
        ResolvedPath::Folder(_) if entry.starts_with('/') => {
            scope.report(field, EntryError::Absolute(entry.to_owned()));
            return None;
        }
        ResolvedPath::Folder(folder) => scope.root.enter(folder, None),
        ResolvedPath::Missing => {
            let Some(remote) = RemoteEntry::of_entry(entry) else {
                scope.report_missing(field, entry);
                return None;
            };
            let shown = remote.redacted();
            match scope.fetch(field, &shown, FetchRequest::Remote(remote))? {
                FetchedContent::Folder { top, root } => scope.root.enter(root, Some(top)),
                FetchedContent::Bytes(bytes) => {
                    return Some(EntryTarget::RemoteFile(TreePath::new(&shown), bytes));
                }
            }
        }
    };
    scope.ok(field, root).map(EntryTarget::Root)
}
