//! What a build gives: objects, and the text kustomize prints for them.

mod files;
pub(crate) mod metadata;

use manifest::{Object, write_traced_stream};

use crate::Problem;
use crate::accumulator::Accumulator;
use crate::build::Scope;

const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// What was built.
#[derive(Debug)]
pub struct Output {
    /// The objects, in their order.
    pub objects: Vec<Object>,
    /// What the author of the kustomizations should know.
    pub warnings: Vec<Problem>,
}

impl Output {
    /// Prints the objects as one stream, as kustomize does; those that are traced with comments on what set their fields.
    pub fn text(&self) -> String {
        let mut text = write_traced_stream(&self.objects);
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Drops objects that say they are for the build alone.
pub(crate) fn drop_local_config(_scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let is_local = |annotation: Option<&str>| annotation.is_some_and(|value| value != "false");
    let dropped: Vec<_> = objects
        .iter()
        .filter(|(_, resource)| is_local(resource.object.annotation(LOCAL_CONFIG)))
        .map(|(position, _)| position)
        .collect();
    for position in dropped {
        objects.remove(position);
    }
}
