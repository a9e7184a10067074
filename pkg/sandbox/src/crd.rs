//! CustomResourceDefinitions: validation, status and serving.
//!
//! ```text
//! definition ─► set_defaults ─► validate ─► status ─► resources ─► served kinds
//! object     ─► prune ─► default ─► validate_object: values, embedded objects, lists, rules, scale
//! ```
//!
//! Source of the checks of lists and of the scale: apiextensions-apiserver 1.36 `pkg/apiserver/schema/listtype` and
//! `pkg/registry/customresource/validator.go`.

mod check;
mod correlate;
mod defaults;
mod definition;
mod embedded;
mod format;
mod names;
mod path;
mod prune;
mod rules;
mod served_resources;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

pub(crate) use self::path::WalkPath;
use self::path::visit_values;
pub(crate) use self::{
    defaults::fill_defaults, definition::validate, embedded::prune_embedded, names::status, prune::prune,
    served_resources::resources,
};
use crate::{
    go,
    kinds::{ResourceType, ScalePaths},
    schema::{ListType, Schema},
    status::{FieldError, FieldErrorKind, FieldErrors},
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
    formats.map(|format| format!("unrecognized format {}", go::quoted(&format))).collect()
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
        errors.extend(validate_scale(paths, object));
    }
    errors.extend(embedded::validate_embedded(schema, object));
    if old.is_none_or(|old| duplicates(schema, old).is_empty()) {
        errors.extend(duplicates(schema, object));
    }
    if schema.node().rules_below {
        if errors.iter().any(blocks_rules) {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing \
                          errors to complete validation";
            errors.invalid("<nil>", Value::Null, detail);
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

/// Returns all errors of replicas and selector.
fn validate_scale(paths: &ScalePaths, object: &Value) -> Vec<FieldError> {
    let replicas = [&paths.spec_replicas, &paths.status_replicas].into_iter().filter_map(|path| {
        let value = find(object, path).filter(|value| !value.is_null())?;
        let Some(count) = value.as_i64() else {
            return Some(FieldError::invalid(&**path, 0, wrong_type(value, path, "int64")));
        };
        let detail = match count {
            ..0 => "should be a non-negative integer",
            2_147_483_648.. => "should be less than or equal to 2147483647",
            0..=2_147_483_647 => return None,
        };
        Some(FieldError::invalid(&**path, count, detail))
    });
    let selector = paths.label_selector.iter().filter_map(|path| {
        let value = find(object, path).filter(|value| !value.is_null() && !value.is_string())?;
        Some(FieldError::invalid(&**path, "", wrong_type(value, path, "string")))
    });
    replicas.chain(selector).collect()
}

fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim_start_matches('.').split('.').try_fold(object, |value, name| value.get(name))
}

fn wrong_type(value: &Value, path: &str, expected: &str) -> String {
    let found = go::type_name(value);
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{path} accessor error: {shown} is of the type {found}, expected {expected}")
}

fn duplicates(schema: Schema<'_>, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit_values(schema, value, &mut WalkPath::default(), &mut |schema, value, path| {
        if let Value::Array(items) = value {
            check_list(schema, items, path, &mut errors);
        }
    });
    errors
}

fn check_list(schema: Schema<'_>, items: &[Value], path: &mut WalkPath, errors: &mut Vec<FieldError>) {
    match &schema.node().list_type {
        ListType::Atomic => {}
        ListType::Set => report_duplicates(items, path, errors),
        ListType::Map(keys) => {
            if let Some(index) = non_object_index(items) {
                path.with_index(index, |path| {
                    let detail = "must be an object for an array of list-type map";
                    errors.invalid(path.text(), items[index].clone(), detail);
                });
            } else {
                let keys: Vec<_> = items.iter().map(|item| key_of(item, keys)).collect();
                report_duplicates(&keys, path, errors);
            }
        }
    }
}

fn non_object_index(items: &[Value]) -> Option<usize> {
    items.iter().position(|item| !item.is_object() && !item.is_null())
}

fn key_of(item: &Value, keys: &[std::sync::Arc<str>]) -> Value {
    let value_of = |key: &std::sync::Arc<str>| Some((key.to_string(), item.get(&**key)?.clone()));
    Value::Object(keys.iter().filter_map(value_of).collect::<Map<_, _>>())
}

/// Reports each repeated value once.
fn report_duplicates(values: &[Value], path: &mut WalkPath, errors: &mut Vec<FieldError>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (index, value) in values.iter().enumerate() {
        let times = seen.entry(value.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            path.with_index(index, |path| {
                errors.push(FieldError::new(FieldErrorKind::Duplicate, path.text(), value.clone(), ""));
            });
        }
    }
}
