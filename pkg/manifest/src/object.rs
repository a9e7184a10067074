//! One Kubernetes object as a JSON tree; cheap to clone, and copied on write.

use std::sync::Arc;

use crate::provenance::{ChangedField, FieldOrigin, Provenance};
use crate::{Map, Value};

/// One Kubernetes object: a JSON mapping with accessors for common fields.
///
/// A clone costs one reference count; the first write to a shared object copies it. If a field is missing or has
/// another type, its accessor returns the empty string or `None`. Objects with equal fields are equal, regardless of
/// provenance.
#[derive(Clone, Debug, Default)]
pub struct Object {
    root: Arc<Map<String, Value>>,
    provenance: Option<Box<Provenance>>,
}

/// A JSON value that cannot be an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a mapping, found {found}")]
pub struct NotAMapping {
    /// The type of the value: `a list`, `a string`, `a number`, `a boolean` or `null`.
    pub found: &'static str,
}

impl Object {
    /// Makes an object from its fields.
    pub fn from_map(fields: Map<String, Value>) -> Self {
        Self { root: Arc::new(fields), provenance: None }
    }

    /// Returns the fields as a JSON value; copies them only if another clone exists.
    pub fn into_value(self) -> Value {
        Value::Object(self.into_fields())
    }

    /// Returns the fields; copies them only if another clone exists.
    pub fn into_fields(self) -> Map<String, Value> {
        Arc::unwrap_or_clone(self.root)
    }

    /// Returns the fields.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.root
    }

    /// Returns the fields for writing; copies them first if another clone exists.
    pub fn as_map_mut(&mut self) -> &mut Map<String, Value> {
        Arc::make_mut(&mut self.root)
    }

    /// Replaces all fields; the provenance stays.
    pub fn replace_fields(&mut self, fields: Map<String, Value>) {
        self.root = Arc::new(fields);
    }

    /// Returns `apiVersion`; empty if missing.
    pub fn api_version(&self) -> &str {
        self.text(&["apiVersion"])
    }

    /// Returns `kind`; empty if missing.
    pub fn kind(&self) -> &str {
        self.text(&["kind"])
    }

    /// Returns the group of `apiVersion`; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// Returns the version of `apiVersion`, without the group.
    pub fn version(&self) -> &str {
        let whole = self.api_version();
        whole.split_once('/').map_or(whole, |(_, version)| version)
    }

    /// Returns `metadata.name`; empty if missing.
    pub fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }

    /// Returns `metadata.namespace`; empty if missing.
    pub fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"])
    }

    /// True for a CustomResourceDefinition.
    pub fn is_crd(&self) -> bool {
        self.group() == "apiextensions.k8s.io" && self.kind() == "CustomResourceDefinition"
    }

    /// Returns the value of a label, if it exists and is a string.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.get(&["metadata", "labels", key]).and_then(Value::as_str)
    }

    /// Returns the value of an annotation, if it exists and is a string.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.get(&["metadata", "annotations", key]).and_then(Value::as_str)
    }

    /// Iterates over the labels with string values, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs("labels")
    }

    /// Iterates over the annotations with string values, by key.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs("annotations")
    }

    /// Sets `metadata.name`.
    pub fn set_name(&mut self, name: &str) {
        self.metadata_mut().insert("name".to_owned(), name.into());
    }

    /// Sets `metadata.namespace`; the empty string removes it.
    pub fn set_namespace(&mut self, namespace: &str) {
        if namespace.is_empty() {
            if self.get(&["metadata", "namespace"]).is_some() {
                self.metadata_mut().remove("namespace");
            }
        } else {
            self.metadata_mut().insert("namespace".to_owned(), namespace.into());
        }
    }

    /// Sets one label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        inner_mapping(self.metadata_mut(), "labels").insert(key.to_owned(), value.into());
    }

    /// Sets one annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        inner_mapping(self.metadata_mut(), "annotations").insert(key.to_owned(), value.into());
    }

    /// Returns the value at a path of mapping keys, if every step exists.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.root.get(*first)?, |at, key| at.as_object()?.get(*key))
    }

    /// Returns the value at a path of mapping keys for writing; copies nothing if the path does not exist.
    pub fn get_mut(&mut self, path: &[&str]) -> Option<&mut Value> {
        self.get(path)?;
        let (first, rest) = path.split_first()?;
        let root = self.as_map_mut().get_mut(*first)?;
        rest.iter().try_fold(root, |at, key| at.as_object_mut()?.get_mut(*key))
    }

    /// Starts recording the provenance of fields; `origin` is the setter of all present fields.
    pub fn start_provenance(&mut self, origin: &Arc<FieldOrigin>) {
        self.provenance = Some(Box::new(Provenance::new(Arc::clone(origin), Arc::clone(&self.root))));
    }

    /// Records `setter` for every field changed since the last call, if the object is traced.
    pub fn record_provenance(&mut self, setter: &Arc<FieldOrigin>) {
        if let Some(provenance) = &mut self.provenance {
            provenance.record(&self.root, setter);
        }
    }

    /// Records the provenance of values that were substituted in the source text, if the object is traced. `marked` is
    /// the object parsed from the text with marks. `setter` returns the setter of a text with a mark.
    pub fn record_marked_provenance(
        &mut self,
        marked: &Self,
        setter: &dyn Fn(&str) -> Option<Arc<FieldOrigin>>,
    ) {
        if let Some(provenance) = &mut self.provenance {
            provenance.record_marks(&marked.root, setter);
        }
    }

    /// Lists the leaf fields not set by the origin; empty if the object is not traced.
    pub fn changed_fields(&self) -> Vec<ChangedField<'_>> {
        self.provenance.as_ref().map(|provenance| provenance.changed_fields(&self.root)).unwrap_or_default()
    }

    /// Replaces every recorded setter, if the object is traced.
    pub fn map_origins(&mut self, mut map: impl FnMut(&FieldOrigin) -> FieldOrigin) {
        if let Some(provenance) = &mut self.provenance {
            provenance.map_origins(&mut map);
        }
    }

    /// The provenance of the fields, if the object is traced.
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

    fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        inner_mapping(self.as_map_mut(), "metadata")
    }
}

/// Returns the mapping in a field. Replaces a value of another type, usually `null`, with an empty mapping.
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

/// Returns the type of a JSON value with its article, for use inside a sentence.
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

/// Returns a value as text: strings without quotes, all else as JSON.
pub fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        value.try_into().unwrap()
    }

    #[test]
    fn common_fields_are_found_or_empty() {
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
    fn an_empty_namespace_is_removed() {
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
    fn a_value_that_is_not_a_mapping_is_refused_with_its_type() {
        assert_eq!(Object::try_from(json!([])), Err(NotAMapping { found: "a list" }));
    }
}
