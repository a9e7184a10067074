//! The marks of owners on objects.

use data_encoding::BASE32_NOPAD;
use manifest::{Map, Object, Value};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{ApplySetItem, ObjectKey, key_of};

/// The marks of an owner on objects.
///
/// Components mark their objects with a hashed owner id. Providers use the label that every tool of Cluster API
/// recognises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnershipMarks {
    /// The label of every object, and its value.
    pub label: (String, String),
    /// Labels and annotations of the engine. The engine removes them from input objects, whatever their value.
    pub reserved: Vec<String>,
    /// The name of the owner for messages.
    pub owner: String,
    /// The annotation for `owner`. None if the label is enough.
    pub owner_annotation: Option<String>,
    /// The annotation for the digest of the applied object. None to keep the digest only in the apply set.
    pub digest_annotation: Option<String>,
    /// The finalizer of CustomResourceDefinitions and APIServices, which keeps them until their instances are gone.
    /// None for no finalizer.
    pub finalizer: Option<String>,
    /// True if owners may share a Namespace. Each owner then applies Namespaces with a field manager of its own, and keeps
    /// its labels and annotations when another owner applies the same Namespace.
    pub shares_namespaces: bool,
}

impl OwnershipMarks {
    /// Returns the marks of a component: label and annotation `prefix/owner-id`, annotation `prefix/digest`, finalizer
    /// `prefix`. The label is the lower-case base32 of the owner id's SHA-256, without padding.
    /// Source: component-operator-runtime (owner id).
    pub fn of_component(prefix: &str, owner: &str) -> Self {
        let owner_id = format!("{prefix}/owner-id");
        let digest = format!("{prefix}/digest");
        let hash = BASE32_NOPAD.encode(&Sha256::digest(owner)).to_ascii_lowercase();
        Self {
            label: (owner_id.clone(), hash),
            reserved: vec![owner_id.clone(), digest.clone()],
            owner: owner.to_owned(),
            owner_annotation: Some(owner_id),
            digest_annotation: Some(digest),
            finalizer: Some(prefix.to_owned()),
            shares_namespaces: false,
        }
    }

    /// True if this owner owns the object.
    pub fn owns(&self, object: &Object) -> bool {
        object.label(&self.label.0) == Some(&self.label.1)
    }

    /// True if the object is the recorded one and may be deleted with the set. The object has the owner's label, or no
    /// such label and the manager of its earlier write. A recreated object of the same name has neither; an object with
    /// another label belongs to another owner.
    /// Source: component-operator-runtime (deletion); differs: there, objects without the label are foreign.
    pub(crate) fn owns_or_wrote(&self, object: &Object, item: Option<&ApplySetItem>, manager: &str) -> bool {
        match object.label(&self.label.0) {
            Some(owner) => owner == self.label.1,
            None => item.is_some_and(ApplySetItem::was_written) && self.wrote(object, manager),
        }
    }

    /// Returns the owner of an object: the annotation, or else the value of the label. None if the object has no owner.
    pub fn owner_of<'o>(&self, object: &'o Object) -> Option<&'o str> {
        let label = object.label(&self.label.0)?;
        Some(self.owner_annotation.as_deref().and_then(|key| object.annotation(key)).unwrap_or(label))
    }

    /// Returns the digest in the annotation of an object. None if these marks do not use the annotation.
    pub(crate) fn digest_of<'o>(&self, object: &'o Object) -> Option<&'o str> {
        object.annotation(self.digest_annotation.as_deref()?)
    }

    /// Adds the marks to an object.
    pub(crate) fn mark(&self, object: &mut Object, digest: &str) {
        object.set_label(&self.label.0, &self.label.1);
        if let Some(key) = &self.owner_annotation {
            object.set_annotation(key, &self.owner);
        }
        if let Some(key) = &self.digest_annotation {
            object.set_annotation(key, digest);
        }
        if let Some(finalizer) = self.finalizer_for(&key_of(object)) {
            add_finalizer(object, finalizer);
        }
    }

    /// Returns the patch of metadata that removes the owner from an object. None for an object of another owner.
    pub(crate) fn removal(&self, object: &Object) -> Option<Value> {
        let annotations = self.owner_annotation.iter().chain(&self.digest_annotation);
        let annotations: Map<String, Value> = annotations.map(|key| (key.clone(), Value::Null)).collect();
        let label = &self.label.0;
        self.owns(object).then(|| json!({"labels": {label: null}, "annotations": annotations}))
    }

    /// Returns the finalizer of an object that defines kinds. None for all other objects.
    pub(crate) fn finalizer_for(&self, key: &ObjectKey) -> Option<&str> {
        self.finalizer.as_deref().filter(|_| key.is_crd() || key.is_api_service())
    }
}

fn add_finalizer(object: &mut Object, finalizer: &str) {
    let mut all = match object.get(&["metadata", "finalizers"]) {
        Some(Value::Array(finalizers)) => finalizers.clone(),
        _ => Vec::new(),
    };
    if all.iter().all(|present| present != finalizer) {
        all.push(finalizer.into());
    }
    if let Some(Value::Object(metadata)) = object.as_map_mut().get_mut("metadata") {
        metadata.insert("finalizers".to_owned(), all.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        value.try_into().unwrap()
    }

    fn marked(prefix: &str) -> Value {
        let mut definition = object(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.org", "finalizers": ["others"]},
        }));
        OwnershipMarks::of_component(prefix, "ns/name").mark(&mut definition, "d1");
        definition.into_value()
    }

    #[test]
    fn an_owner_is_a_hash_in_the_label_and_plain_in_the_annotation() {
        // The output of `printf ns/name | sha256sum | xxd -r -p | base32`, in lower case and without `=`.
        let hash = "znguiy5fc6iyao4iplcg3jo34cjdfuz6ylkcvphsaohn325e7dkq";
        assert_eq!(
            marked("a.example")["metadata"],
            json!({
                "name": "widgets.example.org",
                "finalizers": ["others", "a.example"],
                "labels": {"a.example/owner-id": hash},
                "annotations": {"a.example/owner-id": "ns/name", "a.example/digest": "d1"},
            })
        );
    }

    // Row: ENG-23
    #[test]
    fn another_prefix_changes_every_mark() {
        let text = marked("a.example").to_string();
        assert_eq!(marked("b.example").to_string(), text.replace("a.example", "b.example"));
        assert!(!marked("b.example").to_string().contains("a.example"));
    }

    #[test]
    fn marking_is_idempotent_and_only_definitions_get_finalizers() {
        let marks = OwnershipMarks::of_component("a.example", "x");
        let mut map = object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
        marks.mark(&mut map, "d");
        let once = map.clone();
        marks.mark(&mut map, "d");
        assert_eq!(map, once);
        assert_eq!(map.get(&["metadata", "finalizers"]), None);
        let mut definition: Object = marked("a.example").try_into().unwrap();
        OwnershipMarks::of_component("a.example", "ns/name").mark(&mut definition, "d1");
        assert_eq!(definition.into_value(), marked("a.example"));
    }

    #[test]
    fn an_owner_is_shown_by_its_annotation_if_present() {
        let marks = OwnershipMarks::of_component("a.example", "ns/name");
        let definition = object(marked("a.example"));
        assert!(marks.owns(&definition));
        assert_eq!(marks.owner_of(&definition), Some("ns/name"));
        assert_eq!(marks.digest_of(&definition), Some("d1"));
        let other = OwnershipMarks::of_component("a.example", "ns/other");
        assert!(!other.owns(&definition));
        assert_eq!(other.owner_of(&definition), Some("ns/name"));
        assert_eq!(OwnershipMarks::of_component("b.example", "ns/name").owner_of(&definition), None);
    }
}
