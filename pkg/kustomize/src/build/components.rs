//! `components`: each works on all that was gathered before it, left to right.

use crate::accumulator::Accumulator;
use crate::kustomization::Kind;
use crate::problems::ProblemKind;

use super::resources::{Found, find};
use super::{Scope, target};

/// Builds the components onto the objects of the kustomization that lists them.
pub(super) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for (index, entry) in scope.kustomization.components.iter().enumerate() {
        if add(scope, &format!("components[{index}]"), entry, objects).is_none() {
            objects.is_partial = true;
        }
    }
}

fn add(scope: &mut Scope<'_, '_>, field: &str, entry: &str, objects: &mut Accumulator) -> Option<()> {
    let Found::Root(root) = find(scope, field, entry)? else {
        scope.problem(field, ProblemKind::NotAFolder(entry.to_owned()));
        return None;
    };
    let (root, kustomization) = root.open(scope.session)?;
    if kustomization.kind != Kind::Component {
        let path = root.folder.clone();
        scope.problem(field, ProblemKind::NotAComponent { path, found: format!("{:?}", kustomization.kind) });
        return None;
    }
    target::build(&mut scope.of(&root, &kustomization), objects);
    Some(())
}
