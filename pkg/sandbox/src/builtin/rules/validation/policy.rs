//! PodDisruptionBudgets.

use serde_json::Value;

use super::{
    selector,
    workload::{at_most_all, count_or_percent},
};
use crate::builtin::rules::faults::{Faults, SPEC};

/// PodDisruptionBudget.
pub(super) fn disruption_budget(object: &Value, to: &mut Faults) {
    let spec = &object["spec"];
    let limits = ["minAvailable", "maxUnavailable"];
    if limits.iter().all(|field| !spec[*field].is_null()) {
        to.invalid(&SPEC, spec.clone(), "minAvailable and maxUnavailable cannot be both set");
    }
    for field in limits {
        count_or_percent(&SPEC.field(field), &spec[field], to);
        at_most_all(&SPEC.field(field), &spec[field], to);
    }
    selector::validate(&spec["selector"], &SPEC.field("selector"), to);
}
