//! Validation of Deployments, ReplicaSets, and Jobs without the rules of indexed Jobs.

use serde_json::{Value, json};

use super::{pod, selector};
use crate::builtin::rules::field_path::{FieldPath, SPEC, text};
use crate::status::{FieldError, FieldErrors};

/// Checks that a template has the labels of the selector and restarts its Pods always. Ignores an empty selector, which
/// is reported elsewhere.
fn template(spec: &Value, usable: bool, errors: &mut Vec<FieldError>) {
    if !usable {
        errors.invalid(SPEC.field("selector"), spec["selector"].clone(), "invalid label selector");
        return;
    }
    let path = SPEC.field("template");
    let labels = &spec["template"]["metadata"]["labels"];
    let selector = &spec["selector"];
    let is_empty = selector.is_object() && selector::is_empty(selector);
    if !is_empty && !selector::matches(selector, &spec["template"]) {
        let path = path.field("metadata");
        errors.invalid(path.field("labels"), labels.clone(), "`selector` does not match template `labels`");
    }
    pod::template(&spec["template"], &path, errors);
    restart_policy_always(&spec["template"]["spec"], errors);
}

fn restart_policy_always(pod: &Value, errors: &mut Vec<FieldError>) {
    let path = SPEC.field("template.spec");
    let policy = text(&pod["restartPolicy"]);
    if policy != "Always" {
        errors.not_supported(path.field("restartPolicy"), policy, &["Always"]);
    }
    if !pod["activeDeadlineSeconds"].is_null() {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        errors.forbidden(path.field("activeDeadlineSeconds"), detail);
    }
}

/// Checks that the selector exists, is well-formed and not empty; true if a check of the template can use the selector.
fn required_selector(spec: &Value, errors: &mut Vec<FieldError>) -> bool {
    let path = SPEC.field("selector");
    if spec["selector"].is_null() {
        errors.required(path, "");
        return true;
    }
    let usable = selector::validate(&spec["selector"], &path, errors);
    if selector::is_empty(&spec["selector"]) {
        errors.invalid(path, spec["selector"].clone(), "empty selector is invalid for deployment");
    }
    usable
}

fn immutable_selector(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if let Some(old) = old {
        errors.immutable(SPEC.field("selector"), &old["spec"]["selector"], &object["spec"]["selector"]);
    }
}

pub(super) fn deployment(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    errors.non_negative(SPEC.field("replicas"), &spec["replicas"]);
    let usable = required_selector(spec, errors);
    template(spec, usable, errors);
    deployment_strategy(&spec["strategy"], errors);
    errors.non_negative(SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    errors.non_negative(SPEC.field("revisionHistoryLimit"), &spec["revisionHistoryLimit"]);
    let path = SPEC.field("progressDeadlineSeconds");
    errors.non_negative(path, &spec["progressDeadlineSeconds"]);
    if let Some(deadline) = spec["progressDeadlineSeconds"].as_i64()
        && deadline <= spec["minReadySeconds"].as_i64().unwrap_or_default()
    {
        errors.invalid(path, deadline, "must be greater than minReadySeconds");
    }
    immutable_selector(object, old, errors);
}

fn deployment_strategy(strategy: &Value, errors: &mut Vec<FieldError>) {
    let path = SPEC.field("strategy");
    let rolling = path.field("rollingUpdate");
    match text(&strategy["type"]) {
        "Recreate" => {
            if !strategy["rollingUpdate"].is_null() {
                errors.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) =
                (&strategy["rollingUpdate"]["maxUnavailable"], &strategy["rollingUpdate"]["maxSurge"]);
            count_or_percent(&rolling.field("maxUnavailable"), unavailable, errors);
            count_or_percent(&rolling.field("maxSurge"), surge, errors);
            if amount(unavailable) == 0 && amount(surge) == 0 {
                let detail = "may not be 0 when `maxSurge` is 0";
                errors.invalid(rolling.field("maxUnavailable"), unavailable.clone(), detail);
            }
            at_most_100_percent(&rolling.field("maxUnavailable"), unavailable, errors);
        }
        _ => errors.not_supported(path, strategy.clone(), &["Recreate", "RollingUpdate"]),
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
fn count_or_percent(path: &FieldPath<'_>, value: &Value, errors: &mut Vec<FieldError>) {
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
fn at_most_100_percent(path: &FieldPath<'_>, value: &Value, errors: &mut Vec<FieldError>) {
    if percent(value).is_some_and(|percent| percent > 100) {
        errors.invalid(path, value.clone(), "must not be greater than 100%");
    }
}

pub(super) fn replica_set(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    errors.non_negative(SPEC.field("replicas"), &spec["replicas"]);
    errors.non_negative(SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    let usable = required_selector(spec, errors);
    template(spec, usable, errors);
    immutable_selector(object, old, errors);
}

/// The label by which a Job selects its Pods.
const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

pub(super) fn job(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    if old.is_none() {
        generated_selector(object, errors);
    }
    job_spec(spec, &SPEC, errors);
    if spec["selector"].is_null() {
        errors.required(SPEC.field("selector"), "");
    }
    let usable = selector::validate(&spec["selector"], &SPEC.field("selector"), errors);
    let labels = &spec["template"]["metadata"]["labels"];
    if usable && !selector::matches(&spec["selector"], &spec["template"]) {
        let path = SPEC.field("template.metadata.labels");
        errors.invalid(path, labels.clone(), "`selector` does not match template `labels`");
    }
    if let Some(old) = old {
        immutable_fields(spec, old, errors);
    }
}

/// Checks that client-set labels equal the labels that the server generates.
fn generated_selector(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    if spec["manualSelector"] == true {
        return;
    }
    let metadata = &object["metadata"];
    let template = SPEC.field("template");
    let labels_path = template.field("metadata");
    let labels_path = labels_path.field("labels");
    let labels = &spec["template"]["metadata"]["labels"];
    for (label, owner) in [
        ("controller-uid", "uid"),
        (CONTROLLER_UID, "uid"),
        ("job-name", "name"),
        ("batch.kubernetes.io/job-name", "name"),
    ] {
        let (is, should) = (text(&labels[label]), text(&metadata[owner]));
        if is != should {
            errors.invalid(labels_path.key(label), labels.clone(), format!("must be '{should}'"));
        }
    }
    let generated = json!({"matchLabels": {CONTROLLER_UID: metadata["uid"]}});
    if spec["selector"] != generated {
        errors.invalid(SPEC.field("selector"), spec["selector"].clone(), "`selector` not auto-generated");
    }
}

/// Checks the immutable fields of a Job. Template changes of a suspended Job that never started are not checked.
fn immutable_fields(spec: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let old_spec = &old["spec"];
    if spec["completionMode"] != "Indexed" {
        errors.immutable(SPEC.field("completions"), &old_spec["completions"], &spec["completions"]);
    }
    errors.immutable(SPEC.field("selector"), &old_spec["selector"], &spec["selector"]);
    let startable = old_spec["suspend"] == true && old["status"]["startTime"].is_null();
    if !startable {
        errors.immutable(SPEC.field("template"), &old_spec["template"], &spec["template"]);
    }
}

fn job_spec(spec: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for field in
        ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"]
    {
        errors.non_negative(path.field(field), &spec[field]);
    }
    let template = path.field("template");
    pod::template(&spec["template"], &template, errors);
    let pod = template.field("spec");
    match text(&spec["template"]["spec"]["restartPolicy"]) {
        "OnFailure" | "Never" => {}
        "" | "Always" => {
            errors.required(pod.field("restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
        }
        other => errors.not_supported(pod.field("restartPolicy"), other, &["OnFailure", "Never"]),
    }
}
