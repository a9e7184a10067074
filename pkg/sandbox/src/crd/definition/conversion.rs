//! How objects are brought from one version to another.

use serde_json::Value;

use super::{label_fault, list, text};
use crate::status::FieldError;

const PATH: &str = "spec.conversion";

/// Checks `spec.conversion`. Paths are those of the internal form of the real server (`webhookClientConfig`).
pub(super) fn validate(definition: &Value, errors: &mut Vec<FieldError>) {
    let Some(conversion) = definition.pointer("/spec/conversion").filter(|value| value.is_object()) else {
        return;
    };
    let strategy = text(conversion, "/strategy");
    match strategy {
        "" => errors.push(FieldError::required(format!("{PATH}.strategy"), "")),
        "None" | "Webhook" => {}
        other => {
            errors.push(FieldError::not_supported(format!("{PATH}.strategy"), other, &["None", "Webhook"]));
        }
    }
    let config = conversion.pointer("/webhook/clientConfig").filter(|config| config.is_object());
    let versions = list(conversion, "/webhook/conversionReviewVersions");
    if strategy == "Webhook" {
        client_config(config, errors);
        review_versions(versions, errors);
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    for (given, field) in
        [(config.is_some(), "webhookClientConfig"), (!versions.is_empty(), "conversionReviewVersions")]
    {
        if given {
            errors.push(FieldError::forbidden(format!("{PATH}.{field}"), detail));
        }
    }
}

fn client_config(config: Option<&Value>, errors: &mut Vec<FieldError>) {
    let path = format!("{PATH}.webhookClientConfig");
    let Some(config) = config else {
        errors.push(FieldError::required(path, "required when strategy is set to Webhook"));
        return;
    };
    let url = config.get("url").and_then(Value::as_str);
    let service = config.get("service").filter(|service| service.is_object());
    match (url, service) {
        (Some(url), None) => url_faults(url, &format!("{path}.url"), errors),
        (None, Some(service)) => service_faults(service, &format!("{path}.service"), errors),
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
}

/// Source: apiserver 1.36 `pkg/util/webhook/validation.go`.
fn url_faults(url: &str, path: &str, errors: &mut Vec<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(FieldError::invalid(path, scheme, detail));
    }
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (user, host) = rest[..host_end].rsplit_once('@').unwrap_or(("", &rest[..host_end]));
    if host.is_empty() {
        errors.push(FieldError::invalid(path, host, format!("host must be specified{FORM}")));
    }
    if !user.is_empty() {
        errors.push(FieldError::invalid(path, user, "user information is not permitted in the URL"));
    }
    let (before, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    if !fragment.is_empty() {
        errors.push(FieldError::invalid(path, fragment, "fragments are not permitted in the URL"));
    }
    if let Some((_, query)) = before.split_once('?').filter(|(_, query)| !query.is_empty()) {
        errors.push(FieldError::invalid(path, query, "query parameters are not permitted in the URL"));
    }
}

fn service_faults(service: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for name in ["name", "namespace"] {
        if text(service, &format!("/{name}")).is_empty() {
            errors.push(FieldError::required(format!("{path}.{name}"), ""));
        }
    }
    if let Some(port) = service.get("port").and_then(Value::as_i64).filter(|port| !(1..=65535).contains(port))
    {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(format!("{path}.port"), port, detail));
    }
    let target = text(service, "/path");
    if !target.is_empty() && !target.starts_with('/') {
        errors.push(FieldError::invalid(format!("{path}.path"), target, "must start with a '/'"));
    }
}

fn review_versions(versions: &[Value], errors: &mut Vec<FieldError>) {
    let path = format!("{PATH}.conversionReviewVersions");
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        let name = version.as_str().unwrap_or_default();
        let here = format!("{path}[{index}]");
        if versions[..index].contains(version) {
            errors.push(FieldError::invalid(here, name, "duplicate version"));
        } else if let Some(fault) = label_fault(name) {
            errors.push(FieldError::invalid(here, name, fault));
        }
    }
    if !versions.iter().any(|version| version == "v1" || version == "v1beta1") {
        errors.push(FieldError::invalid(path, versions.to_vec(), "must include at least one of v1, v1beta1"));
    }
}
