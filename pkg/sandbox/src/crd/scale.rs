//! Validation of the fields that the scale subresource refers to.
//!
//! Source: apiextensions-apiserver 1.36 `pkg/registry/customresource/validator.go`.

use serde_json::Value;

use crate::{go, kinds::ScalePaths, status::FieldError};

/// Returns all errors of replicas and selector.
pub(super) fn validate_scale(paths: &ScalePaths, object: &Value) -> Vec<FieldError> {
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
