//! Validation of ConfigMaps, Secrets and Leases.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::builtin::rules::{
    faults::{Faults, Path, SPEC, entries, text},
    formats,
};

/// The maximum total size of the data of a ConfigMap or a Secret.
const MOST_BYTES: usize = 1024 * 1024;

/// Checks that an immutable object keeps these fields.
fn sealed(object: &Value, old: Option<&Value>, fields: &'static [&'static str], to: &mut Faults) {
    const WORDS: &str = "field is immutable when `immutable` is set";
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    if object["immutable"] != true {
        to.forbidden(&Path::Root("immutable"), WORDS);
    }
    for field in fields {
        if object[field] != old[field] {
            to.forbidden(&Path::Root(field), WORDS);
        }
    }
}

/// The decoded size of base64 text, computed from its length.
fn decoded_length(value: &Value) -> usize {
    let text = text(value).trim_end_matches('=');
    text.len() * 3 / 4
}

pub(super) fn config_map(object: &Value, old: Option<&Value>, to: &mut Faults) {
    sealed(object, old, &["data", "binaryData"], to);
    let data = Path::Root("data");
    let mut bytes = 0;
    for (key, value) in entries(&object["data"]) {
        let path = data.key(key);
        to.format(&path, key, formats::config_map_key(key));
        if !object["binaryData"][key].is_null() {
            to.invalid(&path, key, "duplicate of key present in binaryData");
        }
        bytes += text(value).len();
    }
    let data = Path::Root("binaryData");
    for (key, value) in entries(&object["binaryData"]) {
        to.format(&data.key(key), key, formats::config_map_key(key));
        bytes += decoded_length(value);
    }
    if bytes > MOST_BYTES {
        to.too_long(&Path::Root("[]"), MOST_BYTES);
    }
}

pub(super) fn secret(object: &Value, old: Option<&Value>, to: &mut Faults) {
    if let Some(old) = old {
        to.immutable(&Path::Root("type"), &old["type"], &object["type"]);
    }
    sealed(object, old, &["data"], to);
    let path = Path::Root("data");
    let mut bytes = 0;
    for (key, value) in entries(&object["data"]) {
        to.format(&path.key(key), key, formats::config_map_key(key));
        bytes += decoded_length(value);
    }
    if bytes > MOST_BYTES {
        to.too_long(&path, MOST_BYTES);
    }
    secret_type(object, &path, to);
}

/// Checks the required keys of Secrets with a known type.
fn secret_type(object: &Value, path: &Path<'_>, to: &mut Faults) {
    let data = &object["data"];
    let mut need = |keys: &[&str]| {
        for key in keys {
            to.required(&path.key(key), "");
        }
    };
    let missing = |key: &str| data[key].is_null();
    match text(&object["type"]) {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            if text(&object["metadata"]["annotations"][NAME]).is_empty() {
                let metadata = Path::Root("metadata");
                let annotations = metadata.field("annotations");
                to.required(&annotations.key(NAME), "");
            }
        }
        "kubernetes.io/dockercfg" => json_value(data, ".dockercfg", path, to),
        "kubernetes.io/dockerconfigjson" => json_value(data, ".dockerconfigjson", path, to),
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

fn json_value(data: &Value, key: &str, path: &Path<'_>, to: &mut Faults) {
    if data[key].is_null() {
        to.required(&path.key(key), "");
        return;
    }
    let bytes = STANDARD.decode(text(&data[key])).unwrap_or_default();
    if let Err(error) = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) {
        let detail = crate::request::body::of_json_error(&error, &bytes);
        to.invalid(&path.key(key), "<secret contents redacted>", detail);
    }
}

pub(super) fn lease(object: &Value, to: &mut Faults) {
    let spec = &object["spec"];
    let path = SPEC.field("leaseDurationSeconds");
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64().filter(|seconds| *seconds <= 0) {
        to.invalid(&path, seconds, "must be greater than 0");
    }
    to.not_negative(&SPEC.field("leaseTransitions"), &spec["leaseTransitions"]);
}
