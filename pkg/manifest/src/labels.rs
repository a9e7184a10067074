//! Labels added to every object of a set.

use serde_json::Value;

use crate::object::type_name;
use crate::{Object, ObjectRef};

/// A label that was removed because its value is no string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedLabel {
    /// The object that had the label.
    pub object: ObjectRef,
    /// The key of the label.
    pub key: String,
    /// The type of the value, such as `a number`.
    pub found: &'static str,
}

/// Sets labels on every object, replacing existing values of the same keys.
///
/// An object whose metadata is no mapping stays unchanged. A label without a value gets the empty value. Other labels
/// that are no strings are removed and returned for a warning: no API server accepts such an object.
/// Source: clusterctl v1.14 client/repository/components.go (`addCommonLabels`); differs: in clusterctl, one such value
/// makes the object lose all its labels.
#[must_use = "the author of the file should hear of dropped labels"]
pub fn add_labels(objects: &mut [Object], labels: &[(&str, &str)]) -> Vec<DroppedLabel> {
    let mut dropped = Vec::new();
    for object in objects {
        if object.get(&["metadata"]).is_some_and(|metadata| !metadata.is_object()) {
            continue;
        }
        drop_non_string_labels(object, &mut dropped);
        for (key, value) in labels.iter().copied() {
            if object.label(key) != Some(value) {
                object.set_label(key, value);
            }
        }
    }
    dropped
}

fn drop_non_string_labels(object: &mut Object, dropped: &mut Vec<DroppedLabel>) {
    let Some(Value::Object(labels)) = object.get(&["metadata", "labels"]) else { return };
    if labels.values().all(Value::is_string) {
        return;
    }
    let of = ObjectRef::of(object);
    if let Some(Value::Object(labels)) = object.get_mut(&["metadata", "labels"]) {
        labels.retain(|key, value| {
            if value.is_null() {
                *value = Value::String(String::new());
            }
            if !value.is_string() {
                dropped.push(DroppedLabel { object: of.clone(), key: key.clone(), found: type_name(value) });
            }
            value.is_string()
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LABELS: [(&str, &str); 2] =
        [("clusterctl.cluster.x-k8s.io", ""), ("cluster.x-k8s.io/provider", "infrastructure-aws")];

    fn object(metadata: &Value) -> Object {
        Object::try_from(json!({"kind": "ConfigMap", "metadata": metadata})).unwrap()
    }

    // Row: PRV-33, PRV-59
    #[test]
    fn every_object_gets_the_labels_over_its_own() {
        let mut all = [
            object(&json!({"name": "a", "labels": {"cluster.x-k8s.io/provider": "old", "keep": "me"}})),
            object(&json!({"name": "b", "labels": null})),
            Object::try_from(json!({"kind": "ConfigMap"})).unwrap(),
        ];
        assert_eq!(add_labels(&mut all, &LABELS), []);
        for object in &all {
            assert_eq!(object.label("cluster.x-k8s.io/provider"), Some("infrastructure-aws"));
            assert_eq!(object.label("clusterctl.cluster.x-k8s.io"), Some(""));
        }
        assert_eq!(all[0].label("keep"), Some("me"));
    }

    #[test]
    fn a_label_without_a_value_gets_the_empty_one() {
        let mut all = [object(&json!({"name": "a", "labels": {"app": null}}))];
        assert_eq!(add_labels(&mut all, &LABELS), []);
        assert_eq!(all[0].label("app"), Some(""));
    }

    // Row: D-53
    #[test]
    fn a_non_string_label_is_dropped_and_reported() {
        let mut all = [object(&json!({"name": "a", "labels": {"version": 1.5, "app": "x", "list": []}}))];
        let dropped = add_labels(&mut all, &LABELS);
        assert_eq!(all[0].label("app"), Some("x"));
        assert_eq!(all[0].labels().count(), 3);
        let of = ObjectRef { kind: "ConfigMap".into(), namespace: String::new(), name: "a".into() };
        let lost = |key: &str, found| DroppedLabel { object: of.clone(), key: key.to_owned(), found };
        assert_eq!(dropped, [lost("list", "a list"), lost("version", "a number")]);
    }

    #[test]
    fn an_object_that_has_the_labels_is_not_copied() {
        let mut all = [object(&json!({"name": "a"}))];
        assert_eq!(add_labels(&mut all, &LABELS), []);
        let before = all[0].clone();
        assert_eq!(add_labels(&mut all, &LABELS), []);
        assert!(std::ptr::eq(before.as_map(), all[0].as_map()));
    }

    #[test]
    fn metadata_that_is_not_a_mapping_gets_no_labels() {
        let mut all = [object(&json!(null)), object(&json!("x"))];
        let before = all.clone();
        assert_eq!(add_labels(&mut all, &LABELS), []);
        assert_eq!(all, before);
    }
}
