//! Kinds that wait for other controllers: addresses and volumes.

use manifest::Object;

use super::{Status, text};

pub(super) fn service(object: &Object) -> Status {
    let is_balanced = text(object, &["spec", "type"]) == "LoadBalancer";
    if is_balanced && text(object, &["spec", "clusterIP"]).is_empty() {
        Status::in_progress("has no cluster IP yet")
    } else {
        Status::current()
    }
}

pub(super) fn volume_claim(object: &Object) -> Status {
    match text(object, &["status", "phase"]) {
        "Bound" => Status::current(),
        "" => Status::in_progress("no volume bound yet"),
        phase => Status::in_progress(format!("has no volume yet (phase {phase})")),
    }
}
