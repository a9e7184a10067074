//! Deployments, ReplicaSets, DaemonSets, StatefulSets and what goes with them.

use serde_json::Value;

use super::{pod, selector};
use crate::builtin::rules::{
    faults::{Faults, Path, SPEC, items, text},
    formats,
};

/// A template must carry the labels its owner looks for, and be of the sort that runs for ever.
fn template(spec: &Value, usable: bool, to: &mut Faults) {
    if !usable {
        to.invalid(&SPEC.field("selector"), spec["selector"].clone(), "invalid label selector");
        return;
    }
    let path = SPEC.field("template");
    selected(spec, &path, to);
    pod::template(&spec["template"], &path, to);
    always_restarts(&spec["template"]["spec"], "ReplicaSet", to);
}

/// Without a selector nothing is selected; an empty one is told of elsewhere.
fn selected(spec: &Value, template: &Path<'_>, to: &mut Faults) {
    let labels = &spec["template"]["metadata"]["labels"];
    let given = &spec["selector"];
    let empty = given.is_object() && selector::is_empty(given);
    if !empty && (given.is_null() || !selector::matches(given, labels)) {
        mismatch(template, labels, to);
    }
}

fn mismatch(template: &Path<'_>, labels: &Value, to: &mut Faults) {
    let metadata = template.field("metadata");
    to.invalid(&metadata.field("labels"), labels.clone(), "`selector` does not match template `labels`");
}

fn always_restarts(pod: &Value, kind: &str, to: &mut Faults) {
    let path = SPEC.field("template.spec");
    let policy = text(&pod["restartPolicy"]);
    if policy != "Always" {
        to.unsupported(&path.field("restartPolicy"), policy, &["Always"]);
    }
    if !pod["activeDeadlineSeconds"].is_null() {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        to.forbidden(&path.field("activeDeadlineSeconds"), detail);
    }
}

/// The selector of a workload: there, well formed, not empty. `noun` is what the real server calls it.
/// Says whether the template can be compared with it.
fn own_selector(spec: &Value, noun: &str, to: &mut Faults) -> bool {
    let path = SPEC.field("selector");
    if spec["selector"].is_null() {
        to.required(&path, "");
        return true;
    }
    let usable = selector::validate(&spec["selector"], &path, to);
    if selector::is_empty(&spec["selector"]) {
        let detail = format!("empty selector is invalid for {noun}");
        to.invalid(&path, spec["selector"].clone(), detail);
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
    let usable = own_selector(spec, "deployment", to);
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

/// A whole number from zero, or a percentage.
pub(super) fn count_or_percent(path: &Path<'_>, value: &Value, to: &mut Faults) {
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

/// No more than 100 %.
pub(super) fn at_most_all(path: &Path<'_>, value: &Value, to: &mut Faults) {
    if percent(value).is_some_and(|percent| percent > 100) {
        to.invalid(path, value.clone(), "must not be greater than 100%");
    }
}

/// ReplicaSet.
pub(super) fn replica_set(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let spec = &object["spec"];
    to.not_negative(&SPEC.field("replicas"), &spec["replicas"]);
    to.not_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    let usable = own_selector(spec, "deployment", to);
    template(spec, usable, to);
    same_selector(object, old, to);
}

/// DaemonSet.
pub(super) fn daemon_set(object: &Value, old: Option<&Value>, to: &mut Faults) {
    same_selector(object, old, to);
    let spec = &object["spec"];
    let path = SPEC.field("template");
    if selector::validate(&spec["selector"], &SPEC.field("selector"), to) {
        selected(spec, &path, to);
    }
    if spec["selector"].is_object() && selector::is_empty(&spec["selector"]) {
        to.invalid(
            &SPEC.field("selector"),
            spec["selector"].clone(),
            "empty selector is invalid for daemonset",
        );
    }
    pod::template(&spec["template"], &path, to);
    always_restarts(&spec["template"]["spec"], "DaemonSet", to);
    to.not_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    let strategy = SPEC.field("updateStrategy");
    match text(&spec["updateStrategy"]["type"]) {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = strategy.field("rollingUpdate");
            let (unavailable, surge) = (
                &spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"],
                &spec["updateStrategy"]["rollingUpdate"]["maxSurge"],
            );
            for (field, value) in [("maxUnavailable", unavailable), ("maxSurge", surge)] {
                count_or_percent(&rolling.field(field), value, to);
                at_most_all(&rolling.field(field), value, to);
            }
            match (amount(unavailable), amount(surge)) {
                (0, 0) => to.required(&rolling.field("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
                (_, 0) | (0, _) => {}
                _ => to.invalid(
                    &rolling.field("maxSurge"),
                    surge.clone(),
                    "may not be set when maxUnavailable is non-zero",
                ),
            }
        }
        _ => to.unsupported(&strategy, spec["updateStrategy"].clone(), &["RollingUpdate", "OnDelete"]),
    }
    to.not_negative(&SPEC.field("revisionHistoryLimit"), &spec["revisionHistoryLimit"]);
}

/// The fields of a StatefulSet that may change.
const STATEFUL_SET_MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// StatefulSet.
pub(super) fn stateful_set(object: &Value, old: Option<&Value>, to: &mut Faults) {
    let spec = &object["spec"];
    let management = text(&spec["podManagementPolicy"]);
    if !matches!(management, "OrderedReady" | "Parallel") {
        let path = SPEC.field("podManagementPolicy");
        to.invalid(&path, management, "must be 'OrderedReady' or 'Parallel'");
    }
    stateful_set_strategy(&spec["updateStrategy"], to);
    let retention = SPEC.field("persistentVolumeClaimRetentionPolicy");
    for field in ["whenDeleted", "whenScaled"] {
        let value = &spec["persistentVolumeClaimRetentionPolicy"][field];
        to.one_of(&retention.field(field), value, &["Retain", "Delete"]);
    }
    to.not_negative(&SPEC.field("replicas"), &spec["replicas"]);
    to.not_negative(&SPEC.field("minReadySeconds"), &spec["minReadySeconds"]);
    to.not_negative(&SPEC.field("ordinals.start"), &spec["ordinals"]["start"]);
    let service = text(&spec["serviceName"]);
    if old.is_none() && !service.is_empty() {
        to.format(&SPEC.field("serviceName"), service, formats::dns_label(service));
    }
    let path = SPEC.field("template");
    if own_selector(spec, "statefulset", to) {
        selected(spec, &path, to);
        let claims = items(&spec["volumeClaimTemplates"]).map(|(_, claim)| text(&claim["metadata"]["name"]));
        pod::template_with_volumes(&spec["template"], &path, &claims.collect::<Vec<_>>(), to);
    } else {
        to.invalid(&SPEC.field("selector"), spec["selector"].clone(), "");
    }
    always_restarts(&spec["template"]["spec"], "StatefulSet", to);
    if let Some(old) = old {
        let kept = |spec: &Value| {
            let mut spec = spec.as_object().cloned().unwrap_or_default();
            spec.retain(|field, _| !STATEFUL_SET_MUTABLE.contains(&field.as_str()));
            spec
        };
        if kept(spec) != kept(&old["spec"]) {
            to.forbidden(
                &SPEC,
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                 'minReadySeconds' are forbidden",
            );
        }
    }
}

fn stateful_set_strategy(strategy: &Value, to: &mut Faults) {
    let path = SPEC.field("updateStrategy");
    let rolling = path.field("rollingUpdate");
    match text(&strategy["type"]) {
        "OnDelete" if !strategy["rollingUpdate"].is_null() => {
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            to.invalid(&rolling, strategy["rollingUpdate"].clone(), detail);
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            to.not_negative(&rolling.field("partition"), &strategy["rollingUpdate"]["partition"]);
        }
        _ => to.invalid(&path, strategy.clone(), "must be 'RollingUpdate' or 'OnDelete'"),
    }
}
