//! Validation of Deployments and ReplicaSets.

use serde_json::Value;

use super::{pod, selector};
use crate::builtin::rules::error_list::{ErrorList, FieldPath, SPEC, text};

/// Checks that a template has the labels of the selector and restarts its Pods always. Ignores an empty selector, which
/// is reported elsewhere.
fn template(spec: &Value, usable: bool, errors: &mut ErrorList) {
    if !usable {
        errors.invalid(&SPEC.field("selector"), spec["selector"].clone(), "invalid label selector");
        return;
    }
    let path = SPEC.field("template");
    let labels = &spec["template"]["metadata"]["labels"];
    let selector = &spec["selector"];
    let is_empty = selector.is_object() && selector::is_empty(selector);
    if !is_empty && !selector::matches(selector, &spec["template"]) {
        let path = path.field("metadata");
        errors.invalid(&path.field("labels"), labels.clone(), "`selector` does not match template `labels`");
    }
    pod::template(&spec["template"], &path, errors);
    restart_policy_always(&spec["template"]["spec"], errors);
}

fn restart_policy_always(pod: &Value, errors: &mut ErrorList) {
    let path = SPEC.field("template.spec");
    let policy = text(&pod["restartPolicy"]);
    if policy != "Always" {
        errors.unsupported(&path.field("restartPolicy"), policy, &["Always"]);
    }
    if !pod["activeDeadlineSeconds"].is_null() {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        errors.forbidden(&path.field("activeDeadlineSeconds"), detail);
    }
}

/// Checks that the selector exists, is well-formed and not empty; true if a check of the template can use the selector.
fn required_selector(spec: &Value, errors: &mut ErrorList) -> bool {
    let path = SPEC.field("selector");
    if spec["selector"].is_null() {
        errors.required(&path, "");
        return true;
    }
    let usable = selector::validate(&spec["selector"], &path, errors);
    if selector::is_empty(&spec["selector"]) {
        errors.invalid(&path, spec["selector"].clone(), "empty selector is invalid for deployment");
    }
    usable
}

fn immutable_selector(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    if let Some(old) = old {
        errors.immutable(&SPEC.field("selector"), &old["spec"]["selector"], &object["spec"]["selector"]);
    }
}

pub(super) fn deployment(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = &object["spec"];
    errors.non_negative(&SPEC.field("replicas"), &spec["replicas"]);
    let usable = required_selector(spec, errors);
    template(spec, usable, errors);
    deployment_strategy(&spec["strategy"], errors);
    errors.non_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    errors.non_negative(&SPEC.field("revisionHistoryLimit"), &spec["revisionHistoryLimit"]);
    let path = SPEC.field("progressDeadlineSeconds");
    errors.non_negative(&path, &spec["progressDeadlineSeconds"]);
    if let Some(deadline) = spec["progressDeadlineSeconds"].as_i64()
        && deadline <= spec["minReadySeconds"].as_i64().unwrap_or_default()
    {
        errors.invalid(&path, deadline, "must be greater than minReadySeconds");
    }
    immutable_selector(object, old, errors);
}

fn deployment_strategy(strategy: &Value, errors: &mut ErrorList) {
    let path = SPEC.field("strategy");
    let rolling = path.field("rollingUpdate");
    match text(&strategy["type"]) {
        "Recreate" => {
            if !strategy["rollingUpdate"].is_null() {
                errors.forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) =
                (&strategy["rollingUpdate"]["maxUnavailable"], &strategy["rollingUpdate"]["maxSurge"]);
            count_or_percent(&rolling.field("maxUnavailable"), unavailable, errors);
            count_or_percent(&rolling.field("maxSurge"), surge, errors);
            if amount(unavailable) == 0 && amount(surge) == 0 {
                let detail = "may not be 0 when `maxSurge` is 0";
                errors.invalid(&rolling.field("maxUnavailable"), unavailable.clone(), detail);
            }
            at_most_100_percent(&rolling.field("maxUnavailable"), unavailable, errors);
        }
        _ => errors.unsupported(&path, strategy.clone(), &["Recreate", "RollingUpdate"]),
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
fn count_or_percent(path: &FieldPath<'_>, value: &Value, errors: &mut ErrorList) {
    if value.is_string() && percent(value).is_none() {
        errors.invalid(
            path,
            value.clone(),
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex \
             used for validation is '[0-9]+%')",
        );
    }
    errors.non_negative(path, value);
}

/// Checks that a percentage is at most 100 %.
fn at_most_100_percent(path: &FieldPath<'_>, value: &Value, errors: &mut ErrorList) {
    if percent(value).is_some_and(|percent| percent > 100) {
        errors.invalid(path, value.clone(), "must not be greater than 100%");
    }
}

pub(super) fn replica_set(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = &object["spec"];
    errors.non_negative(&SPEC.field("replicas"), &spec["replicas"]);
    errors.non_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    let usable = required_selector(spec, errors);
    template(spec, usable, errors);
    immutable_selector(object, old, errors);
}
