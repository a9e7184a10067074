//! One Kubernetes object as a JSON tree, cheap to clone and copied only where it is written to.

use std::sync::Arc;

use crate::provenance::{Provenance, SetField, Setter};
use crate::{Map, Value};

/// One Kubernetes object: a JSON mapping with accessors for what every object has.
///
/// Cloning costs one reference count; the first write to a shared object copies it. Nothing is assumed about the
/// content: an accessor over a field that is absent or of another type gives the empty string or `None`. Objects are equal
/// when their fields are, wherever those come from.
#[derive(Clone, Debug, Default)]
pub struct Object {
    root: Arc<Map<String, Value>>,
    provenance: Option<Box<Provenance>>,
}

/// Says that a JSON value cannot be an object, and what it is instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a mapping, found {found}")]
pub struct NotAMapping {
    /// What the value is: `a list`, `a string`, `a number`, `a boolean` or `null`.
    pub found: &'static str,
}

impl Object {
    /// Makes an object from its fields.
    pub fn from_map(fields: Map<String, Value>) -> Self {
        Self { root: Arc::new(fields), provenance: None }
    }

    /// Gives the fields back as a JSON value; copies only when another clone is alive.
    pub fn into_value(self) -> Value {
        Value::Object(self.into_fields())
    }

    /// Gives the fields; copies only when another clone is alive.
    pub fn into_fields(self) -> Map<String, Value> {
        Arc::unwrap_or_clone(self.root)
    }

    /// Returns the fields.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.root
    }

    /// Returns the fields for writing; copies them first when another clone is alive.
    pub fn as_map_mut(&mut self) -> &mut Map<String, Value> {
        Arc::make_mut(&mut self.root)
    }

    /// Puts other fields in the place of its own; their past stays with it.
    pub fn replace_fields(&mut self, fields: Map<String, Value>) {
        self.root = Arc::new(fields);
    }

    /// Returns `apiVersion`, empty if absent.
    pub fn api_version(&self) -> &str {
        self.text(&["apiVersion"])
    }

    /// Returns `kind`, empty if absent.
    pub fn kind(&self) -> &str {
        self.text(&["kind"])
    }

    /// Returns the group in `apiVersion`, empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// Returns the version in `apiVersion`, without its group.
    pub fn version(&self) -> &str {
        let whole = self.api_version();
        whole.split_once('/').map_or(whole, |(_, version)| version)
    }

    /// Returns `metadata.name`, empty if absent.
    pub fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }

    /// Returns `metadata.namespace`, empty if absent.
    pub fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"])
    }

    /// Returns the value of a label, if it is there and a string.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.get(&["metadata", "labels", key]).and_then(Value::as_str)
    }

    /// Returns the value of an annotation, if it is there and a string.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.get(&["metadata", "annotations", key]).and_then(Value::as_str)
    }

    /// Lists the labels whose values are strings, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs("labels")
    }

    /// Lists the annotations whose values are strings, by key.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs("annotations")
    }

    /// Sets `metadata.name`.
    pub fn set_name(&mut self, name: &str) {
        self.mapping_at("metadata").insert("name".to_owned(), name.into());
    }

    /// Sets `metadata.namespace`; the empty string removes it.
    pub fn set_namespace(&mut self, namespace: &str) {
        if namespace.is_empty() {
            if self.get(&["metadata", "namespace"]).is_some() {
                self.mapping_at("metadata").remove("namespace");
            }
        } else {
            self.mapping_at("metadata").insert("namespace".to_owned(), namespace.into());
        }
    }

    /// Sets one label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        inner_mapping(self.mapping_at("metadata"), "labels").insert(key.to_owned(), value.into());
    }

    /// Sets one annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        inner_mapping(self.mapping_at("metadata"), "annotations").insert(key.to_owned(), value.into());
    }

    /// Returns the value under a path of mapping keys, if every step is there.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.root.get(*first)?, |at, key| at.as_object()?.get(*key))
    }

    /// Returns the value under a path of mapping keys for writing; copies nothing when the path is not there.
    pub fn get_mut(&mut self, path: &[&str]) -> Option<&mut Value> {
        self.get(path)?;
        let (first, rest) = path.split_first()?;
        let root = self.as_map_mut().get_mut(*first)?;
        rest.iter().try_fold(root, |at, key| at.as_object_mut()?.get_mut(*key))
    }

    /// Begins to keep account of what sets its fields; those it has are the origin's.
    pub fn trace(&mut self, origin: &Arc<Setter>) {
        self.provenance = Some(Box::new(Provenance::new(Arc::clone(origin), Arc::clone(&self.root))));
    }

    /// Accounts for all that changed since the last time, if the object is traced.
    pub fn set_by(&mut self, setter: &Arc<Setter>) {
        if let Some(provenance) = &mut self.provenance {
            provenance.note(&self.root, setter);
        }
    }

    /// Accounts, if the object is traced, for what was put into the text it was read from: `marked` is what was read with marks
    /// in their places, and `setter` says what a text with a mark stands for.
    pub fn set_by_marks(&mut self, marked: &Self, setter: &dyn Fn(&str) -> Option<Arc<Setter>>) {
        if let Some(provenance) = &mut self.provenance {
            provenance.note_marks(&marked.root, setter);
        }
    }

    /// Lists the fields with a value of their own that something else than the origin set; none if it is not traced.
    pub fn set_fields(&self) -> Vec<SetField<'_>> {
        self.provenance.as_ref().map(|provenance| provenance.set_fields(&self.root)).unwrap_or_default()
    }

    /// Tells what set its fields in other words, if it is traced.
    pub fn map_setters(&mut self, mut map: impl FnMut(&Setter) -> Setter) {
        if let Some(provenance) = &mut self.provenance {
            provenance.map_setters(&mut map);
        }
    }

    /// The past of its fields, if it is traced.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_deref()
    }

    fn text(&self, path: &[&str]) -> &str {
        self.get(path).and_then(Value::as_str).unwrap_or_default()
    }

    fn pairs(&self, field: &str) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.get(&["metadata", field]).and_then(Value::as_object);
        entries.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }

    fn mapping_at(&mut self, field: &str) -> &mut Map<String, Value> {
        inner_mapping(self.as_map_mut(), field)
    }
}

/// Finds the mapping in a field; a value of another type there, `null` above all, is replaced by an empty mapping.
fn inner_mapping<'a>(parent: &'a mut Map<String, Value>, field: &str) -> &'a mut Map<String, Value> {
    if !parent.get(field).is_some_and(Value::is_object) {
        parent.insert(field.to_owned(), Value::Object(Map::new()));
    }
    match parent.get_mut(field) {
        Some(Value::Object(inner)) => inner,
        _ => unreachable!("invariant: the field was made a mapping above"),
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl TryFrom<Value> for Object {
    type Error = NotAMapping;

    fn try_from(value: Value) -> Result<Self, NotAMapping> {
        match value {
            Value::Object(fields) => Ok(Self::from_map(fields)),
            other => Err(NotAMapping { found: type_name(&other) }),
        }
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        object.into_value()
    }
}

/// Names the type of a JSON value, with its article, for the middle of a sentence.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.try_into().unwrap()
    }

    #[test]
    fn what_every_object_has_is_found_or_empty() {
        let full = object(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "a", "namespace": "b", "labels": {"x": "1", "y": 2}, "annotations": {"z": "3"}}
        }));
        assert_eq!((full.group(), full.version(), full.kind()), ("apps", "v1", "Deployment"));
        assert_eq!((full.name(), full.namespace()), ("a", "b"));
        assert_eq!((full.label("x"), full.label("y"), full.annotation("z")), (Some("1"), None, Some("3")));
        assert_eq!(full.labels().collect::<Vec<_>>(), [("x", "1")]);
        let bare = object(json!({"apiVersion": "v1", "metadata": null}));
        assert_eq!((bare.group(), bare.version(), bare.kind(), bare.name()), ("", "v1", "", ""));
    }

    #[test]
    fn writing_to_a_clone_leaves_the_original_alone() {
        let original = object(json!({"metadata": {"name": "a"}}));
        let mut changed = original.clone();
        changed.set_name("b");
        changed.set_namespace("n");
        changed.set_label("l", "1");
        changed.set_annotation("m", "2");
        assert_eq!(original.into_value(), json!({"metadata": {"name": "a"}}));
        assert_eq!(
            changed.into_value(),
            json!({"metadata": {"name": "b", "namespace": "n", "labels": {"l": "1"}, "annotations": {"m": "2"}}})
        );
    }

    #[test]
    fn an_empty_namespace_is_taken_away() {
        let mut namespaced = object(json!({"metadata": {"namespace": "a"}}));
        namespaced.set_namespace("");
        assert_eq!(namespaced.into_value(), json!({"metadata": {}}));
    }

    #[test]
    fn a_path_is_followed_to_its_value_and_no_further() {
        let mut nested = object(json!({"a": {"b": [1]}}));
        assert_eq!(nested.get(&["a", "b"]), Some(&json!([1])));
        assert_eq!(nested.get(&["a", "b", "c"]), None);
        assert_eq!(nested.get(&[]), None);
        if let Some(value) = nested.get_mut(&["a", "b"]) {
            *value = json!(null);
        }
        assert_eq!(nested.into_value(), json!({"a": {"b": null}}));
    }

    #[test]
    fn what_is_no_mapping_is_named() {
        assert_eq!(Object::try_from(json!([])), Err(NotAMapping { found: "a list" }));
    }
}
