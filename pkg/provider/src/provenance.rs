//! Records the origin of fields in each step that turns provider files into objects.

use std::sync::Arc;

use manifest::{
    Object,
    provenance::{FieldOrigin, Trace},
};

/// The name of steps whose settings are in the user's configuration.
pub const CONFIGURATION: &str = "configuration";
/// The name of the step that rewrites fields as the Go types of Kubernetes write them, as in the output of clusterctl.
pub(crate) const ROUND_TRIP: &str = "type conversion";

/// The name of the step that sets the namespace of all objects of a provider or cluster.
pub(crate) const TARGET_NAMESPACE: &str = "target namespace";

/// Records, if tracing is on, that a step set the changed fields. New objects count as created by the step.
pub fn record_provenance<'a>(
    trace: Trace,
    file: &str,
    field: &str,
    objects: impl IntoIterator<Item = &'a mut Object>,
) {
    if trace == Trace::Off {
        return;
    }
    let setter =
        Arc::new(FieldOrigin { file: file.to_owned(), field: field.to_owned(), ..FieldOrigin::default() });
    for object in objects {
        if object.provenance().is_some() {
            object.record_provenance(&setter);
        } else {
            object.start_provenance(&setter);
        }
    }
}
