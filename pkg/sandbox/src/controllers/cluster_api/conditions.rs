//! Conditions in both forms: `metav1` conditions and the older conditions with severities.
//!
//! Source: Cluster API v1.14 `util/conditions`: `lastTransitionTime` is the time of the last status change.

use serde_json::{Value, json};

use super::{
    contract::Contract,
    object::{generation, set},
};
pub(super) use crate::conditions::is_true;

/// A `metav1` condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    kind: &'static str,
    status: bool,
    reason: String,
    message: String,
}

/// A `v1beta1` condition. Reason and severity are written only while the condition is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LegacyCondition {
    kind: &'static str,
    status: bool,
    reason: &'static str,
}

impl Condition {
    pub(super) fn new(kind: &'static str, status: bool, reason: &str) -> Self {
        Self { kind, status, reason: reason.to_owned(), message: String::new() }
    }

    /// A condition with `reason` if true, or `Not` and `reason` if false.
    pub(super) fn positive(kind: &'static str, reason: &str, status: bool) -> Self {
        Self::new(kind, status, &if status { reason.to_owned() } else { format!("Not{reason}") })
    }

    /// A condition whose type is also its reason, such as `ScalingUp` and `NotScalingUp`.
    pub(super) fn activity(kind: &'static str, status: bool) -> Self {
        Self::positive(kind, kind, status)
    }

    pub(super) fn with_message(mut self, message: String) -> Self {
        self.message = message;
        self
    }
}

/// Creates a `v1beta1` condition; the reason is shown while the condition is false.
pub(super) fn legacy(kind: &'static str, status: bool, reason: &'static str) -> LegacyCondition {
    LegacyCondition { kind, status, reason }
}

/// Writes conditions to the fields of the contract; other existing conditions stay.
pub(super) fn write(
    object: &mut Value,
    contract: Contract,
    new: &[Condition],
    legacy: &[LegacyCondition],
    now: &str,
) {
    let generation = generation(object);
    let (new_path, legacy_path): (&[&str], &[&str]) = match contract {
        Contract::V1Beta1 => (&["status", "v1beta2", "conditions"], &["status", "conditions"]),
        Contract::V1Beta2 => (&["status", "conditions"], &["status", "deprecated", "v1beta1", "conditions"]),
    };
    let new = new.iter().map(|condition| {
        json!({"type": condition.kind, "status": status_text(condition.status), "reason": condition.reason,
               "message": condition.message, "observedGeneration": generation})
    });
    write_list(object, new_path, new, now);
    let legacy = legacy.iter().map(|condition| {
        let mut written = json!({"type": condition.kind, "status": status_text(condition.status)});
        if !condition.status {
            written["severity"] = json!("Info");
            written["reason"] = json!(condition.reason);
        }
        written
    });
    write_list(object, legacy_path, legacy, now);
}

fn status_text(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

fn write_list(
    object: &mut Value,
    path: &[&str],
    conditions: impl ExactSizeIterator<Item = Value>,
    now: &str,
) {
    if conditions.len() == 0 {
        return;
    }
    let found = path.iter().fold(&*object, |at, key| &at[*key]);
    let mut all = found.as_array().cloned().unwrap_or_default();
    for mut condition in conditions {
        let before = all.iter_mut().find(|before| before["type"] == condition["type"]);
        let same = before.as_ref().is_some_and(|before| before["status"] == condition["status"]);
        condition["lastTransitionTime"] = match &before {
            Some(before) if same => before["lastTransitionTime"].clone(),
            _ => json!(now),
        };
        match before {
            Some(before) => *before = condition,
            None => all.push(condition),
        }
    }
    set(object, path, Value::Array(all));
}
