//! Validation of the names of a kind.

use serde_json::Value;

use super::{label_error, list, text};
use crate::status::FieldError;

/// Checks `spec.names`, in which some names are required.
pub(super) fn validate_spec_names(definition: &Value, errors: &mut Vec<FieldError>) {
    for name in ["plural", "singular", "kind", "listKind"] {
        if text(definition, &format!("/spec/names/{name}")).is_empty() {
            errors.push(FieldError::required(format!("spec.names.{name}"), ""));
        }
    }
    if let Some(names) = definition.pointer("/spec/names") {
        errors.extend(validate_names(names, "spec.names"));
    }
}

/// Returns all errors in the format of names.
fn validate_names(names: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, mixed) in [("plural", false), ("singular", false), ("kind", true), ("listKind", true)] {
        let name = text(names, &format!("/{field}"));
        let checked = if mixed { name.to_lowercase() } else { name.to_owned() };
        if let Some(fault) = label_error(&checked).filter(|_| !name.is_empty()) {
            let prefix = if mixed { "may have mixed case, but should otherwise match: " } else { "" };
            errors.push(FieldError::invalid(format!("{path}.{field}"), name, format!("{prefix}{fault}")));
        }
    }
    let mut each = |field: &str| {
        for (index, name) in list(names, &format!("/{field}")).iter().enumerate() {
            let name = name.as_str().unwrap_or_default();
            if let Some(fault) = label_error(name) {
                errors.push(FieldError::invalid(format!("{path}.{field}[{index}]"), name, fault));
            }
        }
    };
    each("shortNames");
    let kind = text(names, "/kind");
    if !kind.is_empty() && kind == text(names, "/listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(format!("{path}.listKind"), kind, detail));
    }
    for (index, name) in list(names, "/categories").iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        if let Some(fault) = label_error(name) {
            errors.push(FieldError::invalid(format!("{path}.categories[{index}]"), name, fault));
        }
    }
    errors
}
