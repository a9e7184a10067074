//! Validation of paths into objects: printer columns, scale subresource and selectable fields.

use serde_json::Value;

use super::{list, text};
use crate::status::{FieldError, FieldErrorKind, FieldErrors};

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
/// The maximum number of selectable fields of a version.
const MAX_SELECTABLE_FIELDS: usize = 8;

pub(super) fn subresources(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(scale) = version.pointer("/subresources/scale").filter(|scale| scale.is_object()) else {
        return;
    };
    for (field, roots, words, needed) in [
        ("specReplicasPath", &[".spec."][..], "under .spec", true),
        ("statusReplicasPath", &[".status."], "under .status", true),
        ("labelSelectorPath", &[".spec.", ".status."], "under either .spec or .status", false),
    ] {
        let (value, path) = (text(scale, &format!("/{field}")), format!("{path}.scale.{field}"));
        if value.is_empty() {
            if needed {
                errors.required(path, "");
            }
        } else if let Some(fault) = path_error(value) {
            errors.invalid(path, value, fault);
        } else if !roots.iter().any(|root| value.starts_with(root)) {
            errors.invalid(path, value, format!("should be a json path {words}"));
        }
    }
}

fn path_error(path: &str) -> Option<&'static str> {
    (!path.starts_with('.')).then_some("must be a simple json path starting with .")
}

pub(super) fn printer_columns(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (index, column) in list(version, "/additionalPrinterColumns").iter().enumerate() {
        let path = format!("{path}[{index}]");
        if text(column, "/name").is_empty() {
            errors.required(format_args!("{path}.name"), "");
        }
        let types = format!("must be one of {}", TYPES.join(","));
        match text(column, "/type") {
            "" => errors.required(format_args!("{path}.type"), types),
            kind if TYPES.contains(&kind) => {}
            kind => errors.invalid(format_args!("{path}.type"), kind, types),
        }
        let format = text(column, "/format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            errors.invalid(format_args!("{path}.format"), format, detail);
        }
        let pointer = text(column, "/jsonPath");
        if pointer.is_empty() {
            errors.required(format_args!("{path}.JSONPath"), "");
        } else if let Some(fault) = path_error(pointer) {
            errors.invalid(format_args!("{path}.JSONPath"), pointer, fault);
        }
    }
}

pub(super) fn selectable_fields(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(schema) = version.pointer("/schema/openAPIV3Schema") else { return };
    let mut seen: Vec<&str> = Vec::new();
    for (index, field) in list(version, "/selectableFields").iter().enumerate() {
        let (pointer, here) = (text(field, "/jsonPath"), format!("{path}[{index}].jsonPath"));
        if pointer.is_empty() {
            errors.required(here, "");
            continue;
        }
        let found = match find(pointer, schema, false) {
            Ok(found) => found,
            Err(fault) => {
                errors.invalid(here, pointer, format!("is an invalid path: {fault}"));
                continue;
            }
        };
        if pointer.starts_with(".metadata") && matches!(pointer.as_bytes().get(9), None | Some(b'.')) {
            errors.invalid(&*here, pointer, "must not point to fields in metadata");
        }
        if !matches!(text(found, "/type"), "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                          with formats are allowed.";
            errors.invalid(&*here, pointer, detail);
        }
        if seen.contains(&pointer) {
            errors.push(FieldError::new(FieldErrorKind::Duplicate, here, pointer, ""));
        } else {
            seen.push(pointer);
        }
    }
    if seen.len() > MAX_SELECTABLE_FIELDS {
        let detail = format!("must have at most {MAX_SELECTABLE_FIELDS} items");
        errors.push(FieldError::new(FieldErrorKind::TooMany, path, seen.len(), detail));
    }
}

/// Returns the schema at a field path (`.a['b']`). With `quoted`, fields may be in brackets.
/// Source: apiextensions-apiserver 1.36 `cel.ValidFieldPath`.
pub(super) fn find<'a>(path: &str, schema: &'a Value, quoted: bool) -> Result<&'a Value, String> {
    const NO_FIELD: &str = "does not refer to a valid field";
    let (mut rest, mut schema) = (path, schema);
    while !rest.is_empty() {
        let (name, after) = if let Some(after) = rest.strip_prefix('.') {
            after.split_at(after.find(['.', '[', ']']).unwrap_or(after.len()))
        } else if let Some(after) = rest.strip_prefix('[') {
            if !quoted {
                return Err("array notation is not allowed".to_owned());
            }
            let inner = after.strip_prefix('\'').ok_or_else(|| {
                let token = after.split(['.', '[', ']']).next().unwrap_or_default();
                format!("expected single quoted string but got {token}")
            })?;
            inner.split_once("']").ok_or("unexpected end of JSON path")?
        } else {
            let token = rest.split(['.', '[', ']']).next().unwrap_or_default();
            return Err(format!("expected [ or . but got: {token}"));
        };
        if name.is_empty() && after.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        schema = match (schema.get("properties"), schema.get("additionalProperties")) {
            (Some(properties), _) => properties.get(name).ok_or(NO_FIELD)?,
            (None, Some(additional)) if additional.is_object() => additional,
            _ => return Err(NO_FIELD.to_owned()),
        };
        rest = after;
    }
    Ok(schema)
}
