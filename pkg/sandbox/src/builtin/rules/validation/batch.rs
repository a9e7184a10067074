//! Validation of Jobs, without the rules of indexed Jobs.

use serde_json::{Value, json};

use super::{pod, selector};
use crate::builtin::rules::error_list::{ErrorList, FieldPath, SPEC, text};

/// The label by which a Job selects its Pods.
const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

pub(super) fn job(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = &object["spec"];
    if old.is_none() {
        generated_selector(object, errors);
    }
    job_spec(spec, &SPEC, errors);
    if spec["selector"].is_null() {
        errors.required(&SPEC.field("selector"), "");
    }
    let usable = selector::validate(&spec["selector"], &SPEC.field("selector"), errors);
    let labels = &spec["template"]["metadata"]["labels"];
    if usable && !selector::matches(&spec["selector"], &spec["template"]) {
        let path = SPEC.field("template.metadata.labels");
        errors.invalid(&path, labels.clone(), "`selector` does not match template `labels`");
    }
    if let Some(old) = old {
        immutable_fields(spec, old, errors);
    }
}

/// Checks that client-set labels equal the labels that the server generates.
fn generated_selector(object: &Value, errors: &mut ErrorList) {
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
            errors.invalid(&labels_path.key(label), labels.clone(), format!("must be '{should}'"));
        }
    }
    let generated = json!({"matchLabels": {CONTROLLER_UID: metadata["uid"]}});
    if spec["selector"] != generated {
        errors.invalid(&SPEC.field("selector"), spec["selector"].clone(), "`selector` not auto-generated");
    }
}

/// Checks the immutable fields of a Job. Template changes of a suspended Job that never started are not checked.
fn immutable_fields(spec: &Value, old: &Value, errors: &mut ErrorList) {
    let old_spec = &old["spec"];
    if spec["completionMode"] != "Indexed" {
        errors.immutable(&SPEC.field("completions"), &old_spec["completions"], &spec["completions"]);
    }
    errors.immutable(&SPEC.field("selector"), &old_spec["selector"], &spec["selector"]);
    let startable = old_spec["suspend"] == true && old["status"]["startTime"].is_null();
    if !startable {
        errors.immutable(&SPEC.field("template"), &old_spec["template"], &spec["template"]);
    }
}

fn job_spec(spec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in
        ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"]
    {
        errors.non_negative(&path.field(field), &spec[field]);
    }
    let template = path.field("template");
    pod::template(&spec["template"], &template, errors);
    let pod = template.field("spec");
    match text(&spec["template"]["spec"]["restartPolicy"]) {
        "OnFailure" | "Never" => {}
        "" | "Always" => {
            errors.required(&pod.field("restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
        }
        other => errors.unsupported(&pod.field("restartPolicy"), other, &["OnFailure", "Never"]),
    }
}
