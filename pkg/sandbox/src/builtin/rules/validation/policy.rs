//! PodDisruptionBudgets, HorizontalPodAutoscalers, PriorityClasses.

use serde_json::Value;

use super::{
    SPEC, selector,
    workload::{at_most_all, count_or_percent},
};
use crate::builtin::rules::{
    faults::{Faults, Path, items, text},
    formats,
};

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

/// HorizontalPodAutoscaler.
pub(super) fn autoscaler(object: &Value, to: &mut Faults) {
    let spec = &object["spec"];
    let least = spec["minReplicas"].as_i64();
    let most = spec["maxReplicas"].as_i64().unwrap_or_default();
    if let Some(least) = least.filter(|least| *least < 0) {
        to.invalid(&SPEC.field("minReplicas"), least, "must be greater than or equal to 0");
    }
    let path = SPEC.field("maxReplicas");
    if most < 1 {
        if most == 0 {
            to.required(&path, "must be set and greater than 0");
        } else {
            to.invalid(&path, most, "must be greater than 0");
        }
    }
    if least.is_some_and(|least| most < least) {
        to.invalid(&path, most, "must be greater than or equal to `minReplicas`");
    }
    let target = &spec["scaleTargetRef"];
    let path = SPEC.field("scaleTargetRef");
    for field in ["kind", "name"] {
        let value = text(&target[field]);
        if value.is_empty() {
            to.required(&path.field(field), "");
        } else {
            to.format(&path.field(field), value, formats::path_segment(value, false));
        }
    }
    if !text(&target["apiVersion"]).contains('/') {
        let detail = "apiVersion must specify API group";
        to.invalid(&path.field("apiVersion"), text(&target["apiVersion"]), detail);
    }
    let external = |metric: &Value| matches!(text(&metric["type"]), "Object" | "External");
    if least == Some(0) && !items(&spec["metrics"]).any(|(_, metric)| external(metric)) {
        let detail =
            "must specify at least one Object or External metric to support scaling to zero replicas";
        to.forbidden(&SPEC.field("metrics"), detail);
    }
}

/// PriorityClass.
pub(super) fn priority_class(object: &Value, old: Option<&Value>, to: &mut Faults) {
    /// Values above are for the system.
    const HIGHEST: i64 = 1_000_000_000;
    let name = text(&object["metadata"]["name"]);
    let value = object["value"].as_i64().unwrap_or_default();
    if let Some(old) = old {
        let before = old["value"].as_i64().unwrap_or_default();
        if value != before {
            to.forbidden(&Path::Root("value"), "may not be changed in an update.");
        }
        to.immutable(&Path::Root("preemptionPolicy"), &old["preemptionPolicy"], &object["preemptionPolicy"]);
        return;
    }
    if name.starts_with("system-") {
        if !matches!(name, "system-node-critical" | "system-cluster-critical") {
            let metadata = Path::Root("metadata");
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {name} is not a \
                 known system priority class"
            );
            to.forbidden(&metadata.field("name"), detail);
        }
    } else if value > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        to.forbidden(&Path::Root("value"), detail);
    }
    to.one_of(
        &Path::Root("preemptionPolicy"),
        &object["preemptionPolicy"],
        &["PreemptLowerPriority", "Never"],
    );
}
