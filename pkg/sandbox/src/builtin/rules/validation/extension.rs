//! Validation of webhook configurations and APIServices.

use std::collections::HashSet;

use serde_json::Value;

use super::selector;
use crate::{
    builtin::rules::{
        field_path::{FieldPath, SPEC, items, text},
        formats,
    },
    cel,
    status::{FieldError, FieldErrors},
};

/// Validates a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration.
pub(super) fn webhooks(object: &Value, errors: &mut Vec<FieldError>) {
    let list = FieldPath::Root("webhooks");
    let mut names = HashSet::new();
    for (index, hook) in items(&object["webhooks"]) {
        let path = list.index(index);
        webhook(hook, &path, errors);
        review_versions(&hook["admissionReviewVersions"], &path.field("admissionReviewVersions"), errors);
        let name = text(&hook["name"]);
        if !name.is_empty() && !names.insert(name) {
            errors.duplicate(path.field("name"), name);
        }
    }
}

fn webhook(hook: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    qualified_name(text(&hook["name"]), &path.field("name"), errors);
    let rules = path.field("rules");
    for (index, one) in items(&hook["rules"]) {
        rule(one, &rules.index(index), errors);
    }
    errors.one_of(path.field("failurePolicy"), &hook["failurePolicy"], &["Fail", "Ignore"]);
    errors.one_of(path.field("matchPolicy"), &hook["matchPolicy"], &["Equivalent", "Exact"]);
    let effects = path.field("sideEffects");
    if hook["sideEffects"].is_null() {
        errors.required(effects, "must specify one of None, NoneOnDryRun");
    } else {
        errors.one_of(effects, &hook["sideEffects"], &["None", "NoneOnDryRun"]);
    }
    if let Some(seconds) = hook["timeoutSeconds"].as_i64().filter(|seconds| !(1..=30).contains(seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.invalid(path.field("timeoutSeconds"), seconds, detail);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        selector::validate(&hook[field], &path.field(field), errors);
    }
    let conditions = path.field("matchConditions");
    for (index, condition) in items(&hook["matchConditions"]) {
        let path = conditions.index(index);
        expression(text(&condition["expression"]), &path.field("expression"), errors);
    }
    client_config(&hook["clientConfig"], &path.field("clientConfig"), errors);
    if !hook["reinvocationPolicy"].is_null() {
        let policies = ["IfNeeded", "Never"];
        errors.one_of(path.field("reinvocationPolicy"), &hook["reinvocationPolicy"], &policies);
    }
}

/// Checks a name of at least three segments.
fn qualified_name(name: &str, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        errors.required(path, "");
        return;
    }
    let problems = formats::dns_subdomain(name);
    if !problems.is_empty() {
        errors.format(path, name, problems);
    } else if name.split('.').count() < 3 {
        errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
    }
}

fn rule(rule: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let wildcard =
        |field: &str| items(&rule[field]).count() > 1 && items(&rule[field]).any(|(_, value)| value == "*");
    let operations = path.field("operations");
    if items(&rule["operations"]).next().is_none() {
        errors.required(operations, "");
    }
    if wildcard("operations") {
        let detail = "if '*' is present, must not specify other operations";
        errors.invalid(operations, rule["operations"].clone(), detail);
    }
    for (index, operation) in items(&rule["operations"]) {
        let known = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
        errors.one_of(operations.index(index), operation, &known);
    }
    for (field, noun) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        if items(&rule[field]).next().is_none() {
            errors.required(path.field(field), "");
        }
        if wildcard(field) {
            let detail = format!("if '*' is present, must not specify other {noun}");
            errors.invalid(path.field(field), rule[field].clone(), detail);
        }
    }
    non_empty_items(&rule["apiVersions"], &path.field("apiVersions"), errors);
    let resources = path.field("resources");
    if items(&rule["resources"]).next().is_none() {
        errors.required(resources, "");
    }
    non_empty_items(&rule["resources"], &resources, errors);
    let whole = |(_, value): (usize, &Value)| !text(value).contains('/') && *value != "*";
    if items(&rule["resources"]).count() > 1 && items(&rule["resources"]).any(|(_, value)| value == "*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.invalid(resources, rule["resources"].clone(), detail);
    }
    if wildcard("resources") && items(&rule["resources"]).any(whole) {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(resources, rule["resources"].clone(), detail);
    }
    errors.one_of(path.field("scope"), &rule["scope"], &["*", "Cluster", "Namespaced"]);
}

fn non_empty_items(list: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for (index, _) in items(list).filter(|(_, value)| text(value).is_empty()) {
        errors.required(path.index(index), "");
    }
}

/// Validates the client configuration of a webhook.
pub(crate) fn client_config(config: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    const URL_FORMAT: &str = "; desired format: https://host[/path]";
    match (config["url"].as_str(), config["service"].as_object()) {
        (None, None) | (Some(_), Some(_)) => {
            errors.required(path, "exactly one of url or service is required");
        }
        (Some(url), None) => {
            let at = path.field("url");
            let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
            if scheme != "https" {
                errors.invalid(at, scheme, format!("'https' is the only allowed URL scheme{URL_FORMAT}"));
            }
            if scheme.is_empty() || rest.is_empty() || rest.starts_with('/') {
                errors.invalid(at, "", format!("host must be specified{URL_FORMAT}"));
            }
        }
        (None, Some(_)) => service(&config["service"], &path.field("service"), errors),
    }
}

fn service(service: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for field in ["name", "namespace"] {
        if text(&service[field]).is_empty() {
            errors.required(path.field(field), "");
        }
    }
    if let Some(port) = service["port"].as_i64() {
        for problem in formats::port_number(port) {
            errors.invalid(path.field("port"), port, format!("port is not valid: {problem}"));
        }
    }
    let place = text(&service["path"]);
    if place.is_empty() || place == "/" {
        return;
    }
    let at = path.field("path");
    if !place.starts_with('/') {
        errors.invalid(at, place, "must start with a '/'");
    }
    // Drops the first character like the real server, even a character other than a slash.
    let mut steps = place.chars();
    steps.next();
    let steps = steps.as_str();
    for (index, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(at, place, format!("segment[{index}] may not be empty"));
            continue;
        }
        for problem in formats::dns_subdomain(step) {
            errors.invalid(at, place, format!("segment[{index}]: {problem}"));
        }
    }
}

/// Validates the review versions that a webhook accepts.
pub(crate) fn review_versions(versions: &Value, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    if items(versions).next().is_none() {
        errors.required(path, "must specify one of v1, v1beta1");
        return;
    }
    let mut seen = HashSet::new();
    for (index, version) in items(versions) {
        let (path, version) = (path.index(index), text(version));
        if !seen.insert(version) {
            errors.invalid(path, version, "duplicate version");
            continue;
        }
        errors.format(path, version, formats::dns_1035_label(version));
    }
    if !seen.contains("v1") && !seen.contains("v1beta1") {
        errors.invalid(path, versions.clone(), "must include at least one of v1, v1beta1");
    }
}

pub(super) fn api_service(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let (group, version) = (text(&spec["group"]), text(&spec["version"]));
    let required = format!("{version}.{group}");
    let name = text(&object["metadata"]["name"]);
    if name != required {
        let metadata = FieldPath::Root("metadata");
        let detail = format!("must be `spec.version+\".\"+spec.group`: {required:?}");
        errors.invalid(metadata.field("name"), name, detail);
    }
    errors.format(SPEC.field("version"), version, formats::dns_1035_label(version));
    for (field, most) in [("groupPriorityMinimum", 20000), ("versionPriority", 1000)] {
        let number = spec[field].as_i64().unwrap_or_default();
        if !(1..=most).contains(&number) {
            let detail = format!("must be positive and less than {most}");
            errors.invalid(SPEC.field(field), number, detail);
        }
    }
    let given = &spec["service"];
    if given.is_null() {
        if !text(&spec["caBundle"]).is_empty() {
            let detail = "local APIServices may not have a caBundle";
            errors.invalid(SPEC.field("caBundle"), "", detail);
        }
        if spec["insecureSkipTLSVerify"] == true {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.invalid(SPEC.field("insecureSkipTLSVerify"), true, detail);
        }
    } else {
        service(given, &SPEC.field("service"), errors);
        if spec["insecureSkipTLSVerify"] == true && !text(&spec["caBundle"]).is_empty() {
            let detail = "may not be true if caBundle is present";
            errors.invalid(SPEC.field("insecureSkipTLSVerify"), true, detail);
        }
    }
}

/// Checks the syntax of an expression, not its types.
fn expression(expression: &str, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    if expression.trim().is_empty() {
        errors.required(path, "expression is not specified");
    } else if let Err(report) = cel::compile(expression) {
        errors.invalid(path, expression, format!("compilation failed: {report}"));
    }
}
