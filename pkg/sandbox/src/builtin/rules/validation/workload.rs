//! Validation of Deployments and ReplicaSets.

use serde_json::Value;

use super::{pod, selector};
use crate::builtin::rules::faults::{Faults, Path, SPEC, text};

/// Checks that a template has the labels of the selector and restarts its Pods always. Ignores an empty selector, which
/// is reported elsewhere.
fn template(spec: &Value, usable: bool, to: &mut Faults) {
    if !usable {
        to.invalid(&SPEC.field("selector"), spec["selector"].clone(), "invalid label selector");
        return;
    }
    let path = SPEC.field("template");
    let labels = &spec["template"]["metadata"]["labels"];
    let selector = &spec["selector"];
    let is_empty = selector.is_object() && selector::is_empty(selector);
    if !is_empty && (selector.is_null() || !selector::matches(selector, labels)) {
        let path = path.field("metadata");
        to.invalid(&path.field("labels"), labels.clone(), "`selector` does not match template `labels`");
    }
    pod::template(&spec["template"], &path, to);
    always_restarts(&spec["template"]["spec"], to);
}

fn always_restarts(pod: &Value, to: &mut Faults) {
    let path = SPEC.field("template.spec");
    let policy = text(&pod["restartPolicy"]);
    if policy != "Always" {
        to.unsupported(&path.field("restartPolicy"), policy, &["Always"]);
    }
    if !pod["activeDeadlineSeconds"].is_null() {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        to.forbidden(&path.field("activeDeadlineSeconds"), detail);
    }
}

/// Checks that the selector exists, is well-formed and not empty; true if a check of the template can use the selector.
fn own_selector(spec: &Value, to: &mut Faults) -> bool {
    let path = SPEC.field("selector");
    if spec["selector"].is_null() {
        to.required(&path, "");
        return true;
    }
    let usable = selector::validate(&spec["selector"], &path, to);
    if selector::is_empty(&spec["selector"]) {
        to.invalid(&path, spec["selector"].clone(), "empty selector is invalid for deployment");
    }
    usable
}

fn same_selector(object: &Value, old: Option<&Value>, to: &mut Faults) {
    if let Some(old) = old {
        to.immutable(&SPEC.field("selector"), &old["spec"]["selector"], &object["spec"]["selector"]);
    }
}

pub(super) fn deployment(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let spec = &object["spec"];
    to.not_negative(&SPEC.field("replicas"), &spec["replicas"]);
    let usable = own_selector(spec, to);
    template(spec, usable, to);
    deployment_strategy(&spec["strategy"], to);
    to.not_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    to.not_negative(&SPEC.field("revisionHistoryLimit"), &spec["revisionHistoryLimit"]);
    let path = SPEC.field("progressDeadlineSeconds");
    to.not_negative(&path, &spec["progressDeadlineSeconds"]);
    if let Some(deadline) = spec["progressDeadlineSeconds"].as_i64()
        && deadline <= spec["minReadySeconds"].as_i64().unwrap_or_default()
    {
        to.invalid(&path, deadline, "must be greater than minReadySeconds");
    }
    same_selector(object, old, to);
}

fn deployment_strategy(strategy: &Value, to: &mut Faults) {
    let path = SPEC.field("strategy");
    let rolling = path.field("rollingUpdate");
    match text(&strategy["type"]) {
        "Recreate" => {
            if !strategy["rollingUpdate"].is_null() {
                to.forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) =
                (&strategy["rollingUpdate"]["maxUnavailable"], &strategy["rollingUpdate"]["maxSurge"]);
            count_or_percent(&rolling.field("maxUnavailable"), unavailable, to);
            count_or_percent(&rolling.field("maxSurge"), surge, to);
            if amount(unavailable) == 0 && amount(surge) == 0 {
                let detail = "may not be 0 when `maxSurge` is 0";
                to.invalid(&rolling.field("maxUnavailable"), unavailable.clone(), detail);
            }
            at_most_all(&rolling.field("maxUnavailable"), unavailable, to);
        }
        _ => to.unsupported(&path, strategy.clone(), &["Recreate", "RollingUpdate"]),
    }
}

fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%')?;
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

fn amount(value: &Value) -> i64 {
    value.as_i64().or_else(|| percent(value)).unwrap_or_default()
}

/// Checks that a value is a whole number from zero or a percentage.
fn count_or_percent(path: &Path<'_>, value: &Value, to: &mut Faults) {
    if value.is_string() && percent(value).is_none() {
        to.invalid(
            path,
            value.clone(),
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex \
             used for validation is '[0-9]+%')",
        );
    }
    to.not_negative(path, value);
}

/// Checks that a percentage is at most 100 %.
fn at_most_all(path: &Path<'_>, value: &Value, to: &mut Faults) {
    if percent(value).is_some_and(|percent| percent > 100) {
        to.invalid(path, value.clone(), "must not be greater than 100%");
    }
}

pub(super) fn replica_set(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let spec = &object["spec"];
    to.not_negative(&SPEC.field("replicas"), &spec["replicas"]);
    to.not_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    let usable = own_selector(spec, to);
    template(spec, usable, to);
    same_selector(object, old, to);
}
