//! Object `metadata`: readers, writers and checks for every kind, and references to objects.

mod names;
mod validate;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::go;
pub(crate) use names::{
    dns_label_problems, dns_subdomain_problems, is_dns_label, label_key_problems, label_value_problems,
};
pub(crate) use validate::{
    finalizer_warnings, manager_errors, short_finalizer_errors, validate, validate_update,
};

/// The known fields of `metadata`, separated by spaces. Source: apimachinery 1.36 `ObjectMeta`.
const FIELDS: &str = "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers \
    generateName generation labels managedFields name namespace ownerReferences resourceVersion \
    selfLink uid";

/// The letters of generated name suffixes; without vowels, they form no words. Source: apimachinery 1.36 `util/rand`.
pub(crate) const SAFE_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// The finalizer of an object whose dependents are deleted first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are kept.
pub(crate) const ORPHAN: &str = "orphan";

/// Returns a random suffix of five letters for a generated name.
pub(crate) fn random_suffix() -> String {
    (0..5).map(|_| char::from(SAFE_LETTERS[fastrand::usize(..SAFE_LETTERS.len())])).collect()
}

/// Returns a field of the metadata. `None` if the field is missing.
pub(crate) fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(name)
}

/// Returns a string field of the metadata; empty if the field is missing.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    field(object, name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

/// Returns the object's namespace; empty for cluster-scoped objects.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "uid")
}

/// Returns the generation; 0 for objects without one.
pub(crate) fn generation(object: &Value) -> i64 {
    field(object, "generation").and_then(Value::as_i64).unwrap_or_default()
}

/// True if the object has a deletion timestamp.
pub(crate) fn is_deleting(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

/// Returns the finalizers in their order.
pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    field(object, "finalizers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the value of an annotation. `None` if the annotation is missing.
pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    field(object, "annotations")?.get(key)?.as_str()
}

/// Returns the labels in the form that the store keeps for selectors.
pub(crate) fn labels(object: &Value) -> Box<[(Box<str>, Box<str>)]> {
    let labels = field(object, "labels").and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into()))).collect()
}

/// Returns the metadata for changes. Creates an object if the metadata is missing or has another type.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let metadata = &mut object["metadata"];
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut().expect("it was made an object above")
}

pub(crate) fn set(object: &mut Value, name: &str, value: impl Into<Value>) {
    metadata_mut(object).insert(name.to_owned(), value.into());
}

/// Copies a field of the metadata from another object. Removes the field if the other object lacks the field.
pub(crate) fn copy(object: &mut Value, from: &Value, name: &str) {
    match field(from, name) {
        Some(value) => set(object, name, value.clone()),
        None => remove(object, name),
    }
}

pub(crate) fn remove(object: &mut Value, name: &str) {
    metadata_mut(object).remove(name);
}

/// Sets the finalizers. Removes the field if the list is empty.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(object, "finalizers", finalizers);
    }
}

/// Brings metadata into the stored form: removes unknown fields, nulls and empty values. Returns the unknown fields,
/// sorted. (The real server decodes metadata into a fixed type and encodes the result again.)
pub(crate) fn normalise(object: &mut Value) -> Vec<String> {
    let metadata = metadata_mut(object);
    let mut unknown = Vec::new();
    metadata.retain(|name, value| {
        if !is_known_field(name) {
            unknown.push(name.clone());
            return false;
        }
        name != "selfLink" && !is_empty(value)
    });
    unknown.sort();
    unknown
}

fn is_known_field(name: &str) -> bool {
    FIELDS.split(' ').any(|known| known == name)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(_) | Value::Bool(_) => false,
    }
}

/// Returns a type error in the metadata in the words of Go's decoder: `number into Go struct field ObjectMeta.labels of
/// type string`.
pub(crate) fn type_error(object: &Value) -> Option<String> {
    let metadata = match object.get("metadata") {
        None | Some(Value::Null) => return None,
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Some(mismatch(other, "metadata", "v1.ObjectMeta")),
    };
    metadata.iter().find_map(|(name, value)| match name.as_str() {
        "labels" | "annotations" => match value {
            Value::Object(texts) => texts.values().find_map(|text| expect_text(text, name)),
            other => (!other.is_null()).then(|| mismatch(other, name, "map[string]string")),
        },
        "finalizers" => match value {
            Value::Array(texts) => texts.iter().find_map(|text| expect_text(text, name)),
            other => (!other.is_null()).then(|| mismatch(other, name, "[]string")),
        },
        "ownerReferences" => expect_objects(value, name, "[]v1.OwnerReference", "v1.OwnerReference"),
        "managedFields" => expect_objects(value, name, "[]v1.ManagedFieldsEntry", "v1.ManagedFieldsEntry"),
        "generation" | "deletionGracePeriodSeconds" => {
            (!value.is_null() && !value.is_i64()).then(|| mismatch(value, name, "int64"))
        }
        "creationTimestamp" | "deletionTimestamp" => {
            let fits = value.is_null() || value.is_string();
            (!fits).then(|| mismatch(value, name, "v1.Time"))
        }
        known if is_known_field(known) => expect_text(value, name),
        _ => None,
    })
}

fn expect_text(value: &Value, name: &str) -> Option<String> {
    (!value.is_null() && !value.is_string()).then(|| mismatch(value, name, "string"))
}

fn expect_objects(value: &Value, name: &str, list: &str, item: &str) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(items) => {
            let odd = items.iter().find(|entry| !entry.is_object() && !entry.is_null())?;
            Some(mismatch(odd, name, item))
        }
        other => Some(mismatch(other, name, list)),
    }
}

fn mismatch(value: &Value, name: &str, expected: &str) -> String {
    format!("{} into Go struct field ObjectMeta.{name} of type {expected}", go::json_kind(value))
}

/// Removes duplicate owner references. Returns a warning if there were any.
/// Source: kube-apiserver 1.36 `dedupOwnerReferencesAndAddWarning`.
pub(crate) fn remove_duplicate_owners(object: &mut Value) -> Option<String> {
    let owners = metadata_mut(object).get_mut("ownerReferences")?.as_array_mut()?;
    let mut seen = HashSet::new();
    let mut duplicates: Vec<String> = Vec::new();
    owners.retain(|owner| {
        let is_new = seen.insert(owner.clone());
        if !is_new {
            duplicates.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        }
        is_new
    });
    (!duplicates.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and \
             may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            duplicates.join(", ")
        )
    })
}

/// An object reference: group, kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectRef {
    /// The API group; empty for core.
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl ObjectRef {
    pub(crate) fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Returns the reference to an object.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        Self::new(group_of(text("apiVersion")), text("kind"), namespace(object), name(object))
    }
}

/// Returns the group of an `apiVersion`; empty for core.
pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn normalizing_metadata_removes_unknown_and_empty_fields() {
        let mut object = json!({"metadata": {
            "name": "a", "namespace": "", "labels": {}, "uid": null, "generation": 0, "colour": "red", "selfLink": "x",
        }});
        assert_eq!(normalise(&mut object), ["colour"]);
        assert_eq!(object, json!({"metadata": {"name": "a", "generation": 0}}));
    }

    #[test]
    fn metadata_type_errors_have_the_text_of_the_decoder() {
        for (metadata, error) in [
            (json!({"labels": {"a": 1}}), "number into Go struct field ObjectMeta.labels of type string"),
            (json!({"labels": []}), "array into Go struct field ObjectMeta.labels of type map[string]string"),
            (json!({"finalizers": [true]}), "bool into Go struct field ObjectMeta.finalizers of type string"),
            (json!({"generation": "1"}), "string into Go struct field ObjectMeta.generation of type int64"),
            (json!(3), "number into Go struct field ObjectMeta.metadata of type v1.ObjectMeta"),
        ] {
            assert_eq!(type_error(&json!({"metadata": metadata})).as_deref(), Some(error));
        }
        assert_eq!(type_error(&json!({"metadata": {"name": "a", "labels": null, "other": 1}})), None);
    }

    #[test]
    fn duplicate_owners_are_merged_with_a_warning() {
        let owner = json!({"apiVersion": "v1", "kind": "A", "name": "x", "uid": "1"});
        let mut object = json!({"metadata": {"ownerReferences": [owner, owner]}});
        let warning = remove_duplicate_owners(&mut object);
        assert!(warning.is_some_and(|text| text.ends_with("duplicate UID(s) observed: 1")));
        assert_eq!(object["metadata"]["ownerReferences"], json!([owner]));
        assert_eq!(remove_duplicate_owners(&mut object), None);
    }
}
