//! Validation of ConfigMaps, Secrets and Leases.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::builtin::rules::{
    field_path::{FieldPath, SPEC, entries, text},
    formats,
};
use crate::status::{FieldError, FieldErrors};

/// The maximum total size of the data of a ConfigMap or a Secret.
const MAX_BYTES: usize = 1024 * 1024;

/// Checks that an immutable object keeps these fields.
fn immutable_data(
    object: &Value,
    old: Option<&Value>,
    fields: &'static [&'static str],
    errors: &mut Vec<FieldError>,
) {
    const MESSAGE: &str = "field is immutable when `immutable` is set";
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    if object["immutable"] != true {
        errors.forbidden(FieldPath::Root("immutable"), MESSAGE);
    }
    for field in fields {
        if object[field] != old[field] {
            errors.forbidden(FieldPath::Root(field), MESSAGE);
        }
    }
}

/// The decoded size of base64 text, computed from its length.
fn decoded_length(value: &Value) -> usize {
    let text = text(value).trim_end_matches('=');
    text.len() * 3 / 4
}

pub(super) fn config_map(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    immutable_data(object, old, &["data", "binaryData"], errors);
    let data = FieldPath::Root("data");
    let mut bytes = 0;
    for (key, value) in entries(&object["data"]) {
        let path = data.key(key);
        errors.format(path, key, formats::config_map_key(key));
        if !object["binaryData"][key].is_null() {
            errors.invalid(path, key, "duplicate of key present in binaryData");
        }
        bytes += text(value).len();
    }
    let data = FieldPath::Root("binaryData");
    for (key, value) in entries(&object["binaryData"]) {
        errors.format(data.key(key), key, formats::config_map_key(key));
        bytes += decoded_length(value);
    }
    if bytes > MAX_BYTES {
        errors.too_long(FieldPath::Root("[]"), MAX_BYTES);
    }
}

pub(super) fn secret(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if let Some(old) = old {
        errors.immutable(FieldPath::Root("type"), &old["type"], &object["type"]);
    }
    immutable_data(object, old, &["data"], errors);
    let path = FieldPath::Root("data");
    let mut bytes = 0;
    for (key, value) in entries(&object["data"]) {
        errors.format(path.key(key), key, formats::config_map_key(key));
        bytes += decoded_length(value);
    }
    if bytes > MAX_BYTES {
        errors.too_long(path, MAX_BYTES);
    }
    secret_type(object, &path, errors);
}

/// Checks the required keys of Secrets with a known type.
fn secret_type(object: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let data = &object["data"];
    let mut need = |keys: &[&str]| {
        for key in keys {
            errors.required(path.key(key), "");
        }
    };
    let missing = |key: &str| data[key].is_null();
    match text(&object["type"]) {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            if text(&object["metadata"]["annotations"][NAME]).is_empty() {
                let metadata = FieldPath::Root("metadata");
                let annotations = metadata.field("annotations");
                errors.required(annotations.key(NAME), "");
            }
        }
        "kubernetes.io/dockercfg" => json_value(data, ".dockercfg", path, errors),
        "kubernetes.io/dockerconfigjson" => json_value(data, ".dockerconfigjson", path, errors),
        "kubernetes.io/basic-auth" if missing("username") && missing("password") => {
            need(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if text(&data["ssh-privatekey"]).is_empty() => need(&["ssh-privatekey"]),
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"] {
                if missing(key) {
                    need(&[key]);
                }
            }
        }
        _ => {}
    }
}

fn json_value(data: &Value, key: &str, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    if data[key].is_null() {
        errors.required(path.key(key), "");
        return;
    }
    let bytes = STANDARD.decode(text(&data[key])).unwrap_or_default();
    if let Err(error) = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) {
        let detail = crate::request::body::of_json_error(&error, &bytes);
        errors.invalid(path.key(key), "<secret contents redacted>", detail);
    }
}

pub(super) fn lease(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let path = SPEC.field("leaseDurationSeconds");
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64().filter(|seconds| *seconds <= 0) {
        errors.invalid(path, seconds, "must be greater than 0");
    }
    errors.non_negative(SPEC.field("leaseTransitions"), &spec["leaseTransitions"]);
}
