//! `matchConditions`: expressions that decide if a webhook is called.
//!
//! Expressions may use `object`, `oldObject` and `request`. `authorizer` is absent, and an expression with `authorizer`
//! fails.

use kube_cel::{AdmissionRequest, GroupVersionKind, GroupVersionResource, VapEvaluator, VapExpression};
use serde_json::Value;

use super::{WriteRequest, matching::Invocation, webhook::Webhook};
use crate::{cel, status::Status};

/// True if all conditions hold. One false condition decides, even if other conditions fail. Errors: 403 if a condition
/// cannot be evaluated and `failurePolicy` is `Fail`. With `Ignore`, returns false.
pub(super) fn match_conditions_hold(
    webhook: &Webhook,
    invocation: &Invocation<'_>,
    request: &WriteRequest<'_>,
    object: Option<&Value>,
) -> Result<bool, Status> {
    if webhook.match_conditions.is_empty() {
        return Ok(true);
    }
    let version = |value: &Value| invocation.in_webhook_version(value).into_owned();
    let mut evaluator = VapEvaluator::builder().request(cel_request(request));
    if let Some(object) = object {
        evaluator = evaluator.object(version(object));
    }
    if let Some(old) = request.old {
        evaluator = evaluator.old_object(version(old));
    }
    // An empty message marks a false condition; a failed evaluation has its own message.
    let expressions: Vec<_> = webhook
        .match_conditions
        .iter()
        .map(|(_, expression)| VapExpression {
            expression: expression.clone(),
            message: Some(String::new()),
            message_expression: None,
        })
        .collect();
    let results = cel::with_large_stack(|| evaluator.build().evaluate(&expressions))
        .ok_or_else(|| Status::internal("a match condition could not be evaluated"))?;
    let failed = || results.iter().filter(|result| !result.passed);
    if failed().any(|result| result.message.as_deref() == Some("")) {
        return Ok(false);
    }
    let errors: Vec<_> = failed()
        .map(|result| {
            let why = result.message.as_deref().unwrap_or_default();
            let why = why.strip_prefix("evaluation error: ").unwrap_or(why);
            format!("expression '{}' resulted in error: {why}", result.expression)
        })
        .collect();
    let why = match &errors[..] {
        [] => return Ok(true),
        _ if webhook.ignores_failure => return Ok(false),
        [error] => error.clone(),
        errors => format!("[{}]", errors.join(", ")),
    };
    let name = if request.name.is_empty() {
        object.map(crate::meta::name).unwrap_or_default()
    } else {
        request.name
    };
    Err(Status::forbidden(&request.resource.group, &request.resource.plural, name, &why))
}

fn cel_request(request: &WriteRequest<'_>) -> AdmissionRequest {
    let resource = request.resource;
    let (group, version) = (resource.group.to_string(), resource.version.to_string());
    AdmissionRequest {
        operation: request.operation.name().to_owned(),
        username: request.user.name.clone(),
        uid: request.user.uid.clone(),
        groups: request.user.groups.clone(),
        name: request.name.to_owned(),
        namespace: request.namespace.to_owned(),
        dry_run: request.dry_run,
        kind: GroupVersionKind {
            group: group.clone(),
            version: version.clone(),
            kind: resource.kind.to_string(),
        },
        resource: GroupVersionResource { group, version, resource: resource.plural.to_string() },
    }
}
