//! Conditions with transition times.

use serde_json::{Map, Value, json};

/// Returns the condition of a type.
pub(crate) fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// True if the condition of a type exists and is true.
pub(crate) fn is_true(status: &Value, kind: &str) -> bool {
    find(status, kind).is_some_and(|condition| condition["status"] == "True")
}

/// Creates a condition; `lastTransitionTime` stays if the status of the old condition is equal.
pub(crate) fn build(old: &Value, kind: &str, status: &str, reason: &str, message: &str, now: &str) -> Value {
    let same = find(old, kind).filter(|condition| condition["status"] == status);
    let since = same.and_then(|condition| condition["lastTransitionTime"].as_str()).unwrap_or(now);
    let mut condition = json!({"type": kind, "status": status, "lastTransitionTime": since});
    for (field, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            condition[field] = text.into();
        }
    }
    condition
}

/// Replaces the condition of the same type, or appends the condition.
pub(crate) fn set(object: &mut Value, condition: Value) {
    let conditions = status_mut(object).entry("conditions").or_insert(Value::Null);
    match conditions.as_array_mut() {
        None => *conditions = json!([condition]),
        Some(all) => match all.iter_mut().find(|old| old["type"] == condition["type"]) {
            Some(old) => *old = condition,
            None => all.push(condition),
        },
    }
}

pub(crate) fn remove(object: &mut Value, kind: &str) {
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    if let Some(conditions) = conditions {
        conditions.retain(|condition| condition["type"] != kind);
    }
}

/// Returns the status of an object. Replaces a status that is not an object: a definition without a schema allows any
/// value.
pub(crate) fn status_mut(object: &mut Value) -> &mut Map<String, Value> {
    let status = &mut object["status"];
    if !status.is_object() {
        *status = Value::Object(Map::new());
    }
    status.as_object_mut().expect("it was made one above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_while_its_status_is_equal() {
        for crooked in [json!({}), json!({"status": "odd"}), json!({"status": {"conditions": 1}})] {
            let mut object = crooked;
            for (kind, status, now) in
                [("A", "True", "1"), ("B", "True", "1"), ("A", "True", "2"), ("B", "False", "2")]
            {
                let condition = build(&object["status"], kind, status, "R", "", now);
                set(&mut object, condition);
            }
            let expected = json!([
                {"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "1"},
                {"type": "B", "status": "False", "reason": "R", "lastTransitionTime": "2"},
            ]);
            assert_eq!(object["status"]["conditions"], expected);
            remove(&mut object, "A");
            assert_eq!(object["status"]["conditions"][0]["type"], "B");
        }
    }
}
