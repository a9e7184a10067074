//! Edits JSON or YAML inside a string.

use manifest::{Value, YamlLimits, type_name, yaml};

use super::PathLookupError;

/// Changes the value in a text and keeps its form: JSON on one line, JSON on several lines, or YAML.
/// # Errors
/// `Type` for a text without a mapping or list, and the errors of `change`; then the text stays unchanged.
/// Source: kustomize v5.8.1 api/filters/replacement (`setValueInStructuredData`); differs: in kustomize, YAML keeps its
/// comments and the order of its fields.
pub(super) fn edit(
    text: &mut String,
    change: impl FnOnce(&mut Value) -> Result<(), PathLookupError>,
) -> Result<(), PathLookupError> {
    let whole = Value::String(String::new());
    let wrong =
        |value: &Value| PathLookupError::Type { expected: "a mapping or a list", found: type_name(value) };
    let mut inner = yaml::read_settings(text, &YamlLimits::default()).map_err(|_| wrong(&whole))?;
    if !(inner.is_object() || inner.is_array()) {
        return Err(wrong(&whole));
    }
    let before = inner.clone();
    change(&mut inner)?;
    if inner == before {
        return Ok(());
    }
    *text = if !text.trim_start().starts_with(['{', '[']) {
        yaml::write(&inner).trim().to_owned()
    } else if text.contains('\n') && text.contains("  ") {
        escaped(&format!("{inner:#}"))
    } else {
        escaped(&inner.to_string())
    };
    Ok(())
}

/// Escapes the characters that Go's `encoding/json` escapes.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
