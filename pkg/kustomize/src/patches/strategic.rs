//! Strategic merge of one patch, with the limits on its changes.

use manifest::{Map, Object, Value};

use crate::kustomization::entries::PatchOptions;
use crate::merge::{self, MergeError};
use crate::schema::{Schema, TypeId};

/// The treatment of labels and annotations in a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelTreatment {
    /// As written: null removes a label or annotation.
    AsWritten,
    /// As strings: null becomes `"null"`; a null in place of the whole mapping changes nothing.
    /// Source: kustomize v5.8.1 (`CopyMergeMetaDataFieldsFrom`), for `patchesStrategicMerge` and patches with a target.
    AsStrings,
}

/// Removes the fields that a patch may not change. Runs once for all targets.
pub(super) fn prepare(mapping: &Object, labels: LabelTreatment, options: PatchOptions) -> Map<String, Value> {
    let mut fields = mapping.as_map().clone();
    fields.remove("apiVersion");
    if !options.allow_kind_change {
        fields.remove("kind");
    }
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata.remove("namespace");
        if !options.allow_name_change {
            metadata.remove("name");
        }
        if labels == LabelTreatment::AsStrings {
            stringify_values(metadata, "labels");
        }
        // kustomize records these options as annotations of the patch.
        if labels == LabelTreatment::AsStrings || options.allow_name_change || options.allow_kind_change {
            stringify_values(metadata, "annotations");
        }
    }
    fields
}

/// Converts the values of labels or annotations to strings; removes a mapping without values.
pub(super) fn stringify_values(metadata: &mut Map<String, Value>, field: &str) {
    match metadata.get_mut(field) {
        Some(Value::Object(values)) if !values.is_empty() => {
            for value in values.values_mut().filter(|value| !value.is_string()) {
                *value = Value::String(value.to_string());
            }
        }
        Some(_) => drop(metadata.remove(field)),
        None => {}
    }
}

/// Merges a prepared patch. The object keeps its namespace, and, unless the options allow a change, its kind and name.
/// # Errors
/// The first mismatch; the object may then be partly changed.
pub(super) fn apply(
    object: &mut Object,
    patch: &Map<String, Value>,
    written_for: Option<TypeId>,
    options: PatchOptions,
    schema: &Schema,
) -> Result<(), MergeError> {
    let kept = [("apiVersion", object.api_version().to_owned()), ("kind", object.kind().to_owned())];
    let (name, namespace) = (object.name().to_owned(), object.namespace().to_owned());
    merge::merge(object, patch, written_for, schema)?;
    if object.as_map().is_empty() {
        return Ok(());
    }
    for (field, value) in kept {
        if object.get(&[field]).is_none() {
            object.as_map_mut().insert(field.to_owned(), value.into());
        }
    }
    if object.name().is_empty() || (!options.allow_name_change && object.name() != name) {
        object.set_name(&name);
    }
    if object.namespace() != namespace {
        object.set_namespace(&namespace);
    }
    Ok(())
}

/// True if a patch replaces the object as a whole.
pub(super) fn replaces_object(mapping: &Object) -> bool {
    mapping.get(&["$patch"]).and_then(Value::as_str) == Some("replace")
}

/// Finds the keys of a patch that are directives in Kubernetes; here they become fields.
pub(super) fn foreign_directives(mapping: &Object) -> Vec<String> {
    let mut found = Vec::new();
    collect_in(mapping.as_map(), &mut found);
    found
}

fn collect_in(fields: &Map<String, Value>, found: &mut Vec<String>) {
    for (name, value) in fields {
        let is_foreign = ["$setElementOrder/", "$deleteFromPrimitiveList/", "$retainKeys"];
        if is_foreign.iter().any(|start| name.starts_with(start)) {
            found.push(name.clone());
        }
        collect(value, found);
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => collect_in(fields, found),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}
