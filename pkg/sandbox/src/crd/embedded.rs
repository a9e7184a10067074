//! Validation and pruning of embedded objects (`x-kubernetes-embedded-resource`).
//!
//! Source: apiextensions-apiserver 1.36 `pkg/apiserver/schema/objectmeta`.

use serde_json::{Value, json};

use super::path::{WalkPath, visit_values};
use crate::{
    builtin::NameRule,
    meta,
    schema::Schema,
    status::{FieldError, FieldErrors},
};

/// Removes unknown metadata fields of embedded objects and returns their paths, sorted.
pub(crate) fn prune_embedded(object: &mut Value, schema: Schema<'_>) -> Vec<String> {
    let mut removed = Vec::new();
    prune_below(object, schema, &mut WalkPath::default(), &mut removed);
    removed.sort_unstable();
    removed
}

fn prune_below(value: &mut Value, schema: Schema<'_>, path: &mut WalkPath, removed: &mut Vec<String>) {
    if schema.node().embedded_resource && value["metadata"].is_object() {
        let metadata = path.child("metadata");
        removed.extend(meta::normalise(value).iter().map(|name| format!("{metadata}.{name}")));
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(field) = schema.field(name) {
                    path.with_field(name, true, |path| prune_below(value, field, path, removed));
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                path.with_index(index, |path| prune_below(item, schema, path, removed));
            }
        }
        _ => {}
    }
}

/// Returns all errors in `apiVersion`, `kind` and metadata of embedded objects.
pub(super) fn validate_embedded(schema: Schema<'_>, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit_values(schema, value, &mut WalkPath::default(), &mut |schema, value, path| {
        if value.is_object() && schema.node().embedded_resource {
            resource(value, path, &mut errors);
        }
    });
    errors
}

fn resource(object: &Value, path: &WalkPath, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        if object.get(name).is_none() {
            errors.required(path.child(name), "");
        }
    }
    let faults = [("apiVersion", api_version_error as fn(&str) -> Option<String>), ("kind", kind_error)];
    for (name, fault) in faults {
        let Some(value) = object.get(name) else { continue };
        let detail = match value.as_str() {
            None => Some("must be a string".to_owned()),
            Some("") => Some("must not be empty".to_owned()),
            Some(text) => fault(text),
        };
        errors.extend(detail.map(|detail| FieldError::invalid(path.child(name), value.clone(), detail)));
    }
    if let Some(metadata) = object.get("metadata").filter(|metadata| metadata.is_object()) {
        errors.extend(
            metadata_errors(metadata)
                .into_iter()
                .map(|error| FieldError { path: path.child(&error.path), ..error }),
        );
    }
}

fn metadata_errors(metadata: &Value) -> Vec<FieldError> {
    let mut object = json!({ "metadata": metadata });
    if meta::name(&object).is_empty() {
        // The metadata check requires a name, but an embedded object may omit the name.
        meta::set(&mut object, "name", "fakename");
    }
    let namespaced = !meta::namespace(&object).is_empty();
    meta::validate(&object, NameRule::PathSegment, namespaced)
}

fn api_version_error(text: &str) -> Option<String> {
    (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind_error(kind: &str) -> Option<String> {
    let problems = NameRule::Dns1035Label.problems(&kind.to_lowercase(), false);
    (!problems.is_empty())
        .then(|| format!("may have mixed case, but should otherwise match: {}", problems.join(",")))
}
