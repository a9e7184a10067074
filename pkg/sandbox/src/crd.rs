//! CustomResourceDefinitions: validation, status and serving.
//!
//! ```text
//! definition ─► set_defaults ─► validate ─► status ─► resources ─► served kinds
//! object     ─► prune ─► default ─► validate_object: values, embedded objects, lists, rules
//! ```

mod check;
mod correlate;
mod defaults;
mod definition;
mod embedded;
mod format;
mod lists;
mod names;
mod path;
mod prune;
mod rules;
mod scale;
mod served_resources;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

pub(crate) use self::{
    defaults::fill_defaults, definition::validate, embedded::prune_embedded, names::status, prune::prune,
    served_resources::resources,
};
use crate::{
    kinds::ResourceType,
    status::{FieldError, FieldErrorKind},
};

/// Sets the defaults of a definition (names, conversion, the Service port of a conversion webhook).
/// Source: apiextensions-apiserver 1.36 `pkg/apis/apiextensions/v1/defaults.go`.
pub(crate) fn set_defaults(definition: &mut Value) {
    let Some(spec) = definition.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(names) = spec.entry("names").or_insert_with(|| json!({})).as_object_mut() {
        let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !kind.is_empty() {
            fill_text(names, "singular", || kind.to_lowercase());
            fill_text(names, "listKind", || format!("{kind}List"));
        }
    }
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({ "strategy": "None" }));
    }
    let service = definition.pointer_mut("/spec/conversion/webhook/clientConfig/service");
    if let Some(service) = service.and_then(Value::as_object_mut)
        && service.get("port").is_none_or(Value::is_null)
    {
        service.insert("port".to_owned(), 443.into());
    }
}

fn fill_text(names: &mut Map<String, Value>, field: &str, text: impl FnOnce() -> String) {
    if names.get(field).and_then(Value::as_str).unwrap_or_default().is_empty() {
        names.insert(field.to_owned(), text().into());
    }
}

/// Sets the status fields that the server controls at a write, such as `storedVersions` with the storage version.
/// Source: apiextensions-apiserver 1.36, registry of definitions, `PrepareForCreate` and `PrepareForUpdate`.
pub(crate) fn prepare(definition: &mut Value) {
    let stored = definition::new_stored_versions(definition, Some(definition));
    let Some(fields) = definition.as_object_mut() else { return };
    if let Some(status) = fields.entry("status").or_insert_with(|| json!({})).as_object_mut() {
        status.entry("conditions").or_insert(Value::Null);
        status.entry("acceptedNames").or_insert_with(|| json!({"plural": "", "kind": ""}));
        status
            .insert("storedVersions".to_owned(), if stored.is_empty() { Value::Null } else { stored.into() });
    }
}

/// Returns a warning for each unknown format in a written definition that `old` does not contain.
pub(crate) fn warnings(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let known = old.map(unknown_formats).unwrap_or_default();
    let formats = unknown_formats(definition).into_iter().filter(|format| !known.contains(format));
    formats.map(|format| format!("unrecognized format {}", crate::go::quoted(&format))).collect()
}

fn unknown_formats(definition: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for version in definition.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten() {
        if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
            crate::schema::unknown_formats(schema, &mut found);
        }
    }
    found.dedup();
    found
}

/// The sort key of a version name; the greatest is preferred: `v2`, `v1`, `v2beta1`, `v1alpha1`, then other names
/// alphabetically. Source: apimachinery 1.36 `pkg/version/helpers.go`.
pub(crate) fn version_priority(version: &str) -> impl Ord + use<> {
    // The stability and the numbers come first. Other names have the lowest priority, in alphabetical order.
    (kube_version(version), std::cmp::Reverse(version.to_owned()))
}

fn kube_version(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('0'));
    let major = number(&rest[..digits])?;
    match &rest[digits..] {
        "" => Some((2, major, 0)),
        stage => {
            let (level, minor) = match stage.strip_prefix("beta") {
                Some(minor) => (1, minor),
                None => (0, stage.strip_prefix("alpha")?),
            };
            Some((level, major, number(minor)?))
        }
    }
}

/// Returns all errors of an object against its schema: types, bounds, formats, list keys and CEL rules. `old` is the
/// stored object at an update, for transition rules and for ratcheting.
///
/// Rules do not run if structural errors such as wrong types exist; one additional error reports this. For the
/// subresource `status`, messages name fields relative to the status, as on the real server.
///
/// Source: apiextensions-apiserver 1.36 `customResourceValidator`.
pub(crate) fn validate_object(
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    let schema = resource.schema.schema();
    let correlated = old.map(|old| correlate::Correlated { new: object, old, schema });
    let mut errors = check::check(schema, object, correlated);
    if let Some(paths) = resource.custom.as_ref().and_then(|custom| custom.scale.as_ref()) {
        errors.extend(scale::validate_scale(paths, object));
    }
    errors.extend(embedded::validate_embedded(schema, object));
    if old.is_none_or(|old| lists::duplicates(schema, old).is_empty()) {
        errors.extend(lists::duplicates(schema, object));
    }
    if schema.node().rules_below {
        if errors.iter().any(blocks_rules) {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing \
                          errors to complete validation";
            errors.push(FieldError::invalid("<nil>", Value::Null, detail));
        } else {
            errors.extend(rules::validate_rules(schema, object, old));
        }
    }
    for error in errors.iter_mut().filter(|_| subresource == "status") {
        let inner = error.detail.strip_prefix("status.").filter(|detail| detail.contains(" in body "));
        if let Some(detail) = inner.map(str::to_owned) {
            error.detail = detail;
        }
    }
    errors
}

fn blocks_rules(error: &FieldError) -> bool {
    use FieldErrorKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(error.kind, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}
