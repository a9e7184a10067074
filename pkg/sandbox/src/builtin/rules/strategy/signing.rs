//! Certificate signing requests: who asks, and who says yes.
//!
//! Source: kube-apiserver 1.36 `pkg/registry/certificates/certificates/strategy.go`.

use serde_json::{Value, json};

use super::{Object, child, take_over};
use crate::identity::{USER, USER_GROUPS};

/// Who asks is not for the request to say.
pub(super) fn create(object: &mut Object) {
    let Some(spec) = child(object, "spec") else { return };
    spec.remove("extra");
    spec.insert("username".into(), USER.into());
    spec.insert("uid".into(), USER.into());
    spec.insert("groups".into(), json!(USER_GROUPS));
}

fn conditions(object: &mut Object) -> impl Iterator<Item = &mut Value> {
    let status = object.get_mut("status").and_then(|status| status.get_mut("conditions"));
    status.and_then(Value::as_array_mut).into_iter().flatten().filter(|condition| condition.is_object())
}

fn old_conditions(old: &Value) -> impl Iterator<Item = &Value> {
    old["status"]["conditions"].as_array().into_iter().flatten()
}

/// Through `status`, conditions that approve or deny stay as they were. That there are more or fewer of them is for the
/// checks to refuse.
pub(super) fn keep_verdicts(old: &Value, object: &mut Object) {
    for kind in ["Approved", "Denied"] {
        let before: Vec<&Value> = old_conditions(old).filter(|condition| condition["type"] == kind).collect();
        let after: Vec<&mut Value> =
            conditions(object).filter(|condition| condition["type"] == kind).collect();
        if before.len() == after.len() {
            after.into_iter().zip(before).for_each(|(new, old)| new.clone_from(old));
        }
    }
}

/// Through `approval` conditions are written, and nothing else.
pub(super) fn keep_for_approval(old: &Value, object: &mut Object) {
    take_over(object, old, "spec");
    let conditions = object.get("status").map(|status| status["conditions"].clone());
    let mut status = old.get("status").cloned().unwrap_or_else(|| json!({}));
    if let (Some(conditions @ Value::Array(_)), Some(status)) = (conditions, status.as_object_mut()) {
        status.insert("conditions".into(), conditions);
    }
    object.insert("status".into(), status);
}

/// Conditions without times get them: that of their last change of state, or now.
pub(super) fn note_times(old: &Value, object: &mut Object, now: &str) {
    for condition in conditions(object) {
        if condition["lastTransitionTime"].is_null() {
            let same =
                |old: &&Value| old["type"] == condition["type"] && old["status"] == condition["status"];
            let since = old_conditions(old).find(same).and_then(|old| old["lastTransitionTime"].as_str());
            condition["lastTransitionTime"] = since.unwrap_or(now).into();
        }
        if condition["lastUpdateTime"].is_null() {
            condition["lastUpdateTime"] = now.into();
        }
    }
}
