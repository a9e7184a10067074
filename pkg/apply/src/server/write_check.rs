//! Comparison of an object with the sent object, after a lost answer.

use manifest::{Object, Value};

/// Fields of metadata that a server sets in any case.
const SERVER_FIELDS: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// True if a manager wrote the existing object, and the object has all sent fields. If the server stores values in
/// another form, this is false. Then the caller gets a conflict and must check the object.
pub(super) fn matches_sent(found: &Object, sent: &Object, manager: &str) -> bool {
    let managers = found.get(&["metadata", "managedFields"]).and_then(Value::as_array);
    let wrote = managers
        .is_some_and(|entries| entries.iter().any(|entry| entry["manager"].as_str() == Some(manager)));
    wrote
        && sent.as_map().iter().all(|(key, value)| match key.as_str() {
            // The server sets the first, and the second is never returned.
            "status" | "stringData" => true,
            "metadata" => found.get(&["metadata"]).is_some_and(|found| has_metadata(found, value)),
            _ => has(found.as_map().get(key), value),
        })
}

fn has_metadata(found: &Value, sent: &Value) -> bool {
    let Some(sent) = sent.as_object() else { return true };
    let chosen = sent.iter().filter(|(key, _)| !SERVER_FIELDS.contains(&key.as_str()));
    chosen.into_iter().all(|(key, value)| has(found.get(key), value))
}

fn has(found: Option<&Value>, sent: &Value) -> bool {
    match (found, sent) {
        (_, Value::Null) => true,
        (Some(Value::Object(found)), Value::Object(sent)) => {
            sent.iter().all(|(key, value)| has(found.get(key), value))
        }
        (Some(Value::Array(found)), Value::Array(sent)) => {
            found.len() == sent.len() && found.iter().zip(sent).all(|(found, sent)| has(Some(found), sent))
        }
        // The server often omits empty values.
        (None, Value::Object(sent)) => sent.is_empty(),
        (None, Value::Array(sent)) => sent.is_empty(),
        (found, sent) => found == Some(sent),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_was_written_if_complete_and_by_its_manager() {
        let object = |value: Value| Object::try_from(value).expect("it is a mapping");
        let sent = object(json!({
            "kind": "A", "metadata": {"name": "a", "labels": {"l": "1"}, "resourceVersion": "1", "annotations": {}},
            "spec": {"list": [{"a": 1}], "none": null}, "status": {"x": 1}
        }));
        let live = json!({
            "kind": "A", "spec": {"list": [{"a": 1, "default": 2}]}, "metadata": {
                "name": "a", "labels": {"l": "1", "m": "2"}, "resourceVersion": "77",
                "managedFields": [{"manager": "other"}, {"manager": "me"}]
            }
        });
        assert!(matches_sent(&object(live.clone()), &sent, "me"));
        assert!(!matches_sent(&object(live.clone()), &sent, "you"));
        for (pointer, value) in [
            ("/metadata/labels/l", json!("2")),
            ("/spec/list", json!([])),
            ("/spec/list/0/a", json!(2)),
            ("/spec", json!(null)),
        ] {
            let mut changed = live.clone();
            *changed.pointer_mut(pointer).expect("it is there") = value;
            assert!(!matches_sent(&object(changed), &sent, "me"), "{pointer}");
        }
    }
}
