//! `commonAnnotations`.

use crate::accumulator::Accumulator;
use crate::build::Scope;

use super::pairs;

/// Sets the annotations, on objects and on the pods they make.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    let annotations = &scope.kustomization.common_annotations;
    for problem in pairs::set(annotations, &tables.common_annotations, objects) {
        scope.problem("commonAnnotations", problem);
    }
}
