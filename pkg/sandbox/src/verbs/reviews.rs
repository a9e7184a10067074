//! Access reviews and authentication reviews, which are answered but never stored.
//!
//! Every authenticated user is an administrator. A fault that forbids a request takes precedence.

use manifest::YamlLimits;
use serde_json::{Value, json};

use super::{Call, managed};
use crate::{
    audit::AuditEntry,
    identity::{USER, USER_GROUPS},
    kinds::ResourceType,
    meta,
    request::Verb,
    status::{FieldError, FieldErrors, Status},
};

/// True if the objects of the resource are reviews.
pub(crate) fn is_review(resource: &ResourceType) -> bool {
    resource.custom.is_none() && matches!(&*resource.group, "authorization.k8s.io" | "authentication.k8s.io")
}

/// Answers a review.
/// Errors: 400 or 422 for an invalid review.
pub(crate) fn complete_review(call: &Call<'_>, mut review: Value) -> Result<Value, Status> {
    let kind = &*call.resource.kind;
    if matches!(kind, "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview") {
        managed::track(call, None, &mut review);
        let errors = access_errors(kind, &review["spec"]);
        if !errors.is_empty() {
            return Err(Status::invalid("authorization.k8s.io", "", "", &errors));
        }
        review["status"] = json!({"allowed": !is_forbidden(call, &review["spec"])});
        return Ok(review);
    }
    match kind {
        "SelfSubjectRulesReview" => {
            if review["spec"]["namespace"].as_str().is_none_or(str::is_empty) {
                return Err(Status::bad_request("no namespace on request"));
            }
            review["spec"] = json!({});
            review["status"] = rules();
            if call.server.faults.forbids_anything() {
                // A server with an authorizer other than roles answers like this.
                review["status"]["incomplete"] = json!(true);
                review["status"]["evaluationError"] = json!("faults do not support user rule resolution");
            }
        }
        "SelfSubjectReview" => {
            meta::set(&mut review, "creationTimestamp", call.server.clock.now());
            review["status"] = json!({"userInfo": {
                "username": USER, "uid": USER, "groups": USER_GROUPS,
            }});
        }
        _ => {
            if review["spec"]["token"].as_str().is_none_or(str::is_empty) {
                return Err(Status::bad_request("token is required for TokenReview in authentication"));
            }
            managed::track(call, None, &mut review);
            review["status"] = json!({"user": {}, "error": "invalid bearer token"});
        }
    }
    Ok(review)
}

/// Returns the rules of administrators and of all users.
fn rules() -> Value {
    manifest::yaml::read_value(include_str!("reviews/rules.yaml"), &YamlLimits::default())
        .expect("the file is valid: a test reads it")
}

/// True if a fault forbids the request of a review. Non-resource paths are never forbidden.
fn is_forbidden(call: &Call<'_>, spec: &Value) -> bool {
    let attributes = &spec["resourceAttributes"];
    let text = |name: &str| attributes[name].as_str().unwrap_or_default();
    let subresource = if text("subresource").is_empty() { "" } else { "/" };
    let verb = match text("verb") {
        "*" => "*",
        word => match Verb::from_name(word) {
            Some(verb) => verb.name(),
            None => return false,
        },
    };
    call.server.faults.forbids(&AuditEntry {
        verb: verb.into(),
        group: text("group").to_owned(),
        resource: format!("{}{subresource}{}", text("resource"), text("subresource")),
        // An empty namespace means all namespaces.
        namespace: Some(text("namespace")).filter(|text| !text.is_empty()).unwrap_or("*").to_owned(),
        name: text("name").to_owned(),
        ..AuditEntry::default()
    })
}

/// Validates the spec of an access review.
/// Source: kubernetes 1.36 `pkg/apis/authorization/validation`.
fn access_errors(kind: &str, spec: &Value) -> Vec<FieldError> {
    let has = |name: &str| spec.get(name).is_some_and(|value| !value.is_null());
    let mut errors = Vec::new();
    match (has("resourceAttributes"), has("nonResourceAttributes")) {
        (true, true) => {
            let detail = "cannot be specified in combination with resourceAttributes";
            let value = spec["nonResourceAttributes"].clone();
            errors.invalid("spec.nonResourceAttributes", value, detail);
        }
        (false, false) => {
            let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.invalid("spec.resourceAttributes", Value::Null, detail);
        }
        _ => {}
    }
    let named = spec["user"].as_str().is_some_and(|user| !user.is_empty())
        || spec["groups"].as_array().is_some_and(|groups| !groups.is_empty());
    if kind != "SelfSubjectAccessReview" && !named {
        let detail = "at least one of user or group must be specified";
        errors.invalid("spec.user", "", detail);
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_administrator_has_the_default_permissions_too() {
        let rules = rules();
        let verbs = |of: &str| -> Vec<Value> {
            rules[of].as_array().unwrap().iter().map(|rule| rule["verbs"][0].clone()).collect()
        };
        assert_eq!(verbs("resourceRules"), ["*", "create", "create"]);
        assert_eq!(verbs("nonResourceRules"), ["get", "*", "get"]);
    }
}
