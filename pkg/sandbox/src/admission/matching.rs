//! Selection of the webhooks that a request must call, also by the expressions of `matchConditions`.
//!
//! Expressions may use `object`, `oldObject` and `request`. `authorizer` is absent, and an expression with `authorizer`
//! fails.

use std::borrow::Cow;

use kube_cel::{AdmissionRequest, GroupVersionKind, GroupVersionResource, VapEvaluator, VapExpression};
use serde_json::Value;

use super::{
    AdmissionContext, Operation, WriteRequest,
    webhook::{Webhook, WebhookRule},
};
use crate::{cel, kinds::ResourceType, status::Status};

/// The resource of a webhook call, in the version that the webhook requires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Invocation<'a> {
    pub(super) resource: &'a ResourceType,
    /// True if the version of `resource` differs from the version of the request.
    converted: bool,
}

impl Invocation<'_> {
    pub(super) fn in_webhook_version<'v>(&self, object: &'v Value) -> Cow<'v, Value> {
        if !self.converted {
            return Cow::Borrowed(object);
        }
        let mut object = object.clone();
        object["apiVersion"] = self.resource.api_version().into();
        Cow::Owned(object)
    }

    /// Restores the original `apiVersion` of an object that a webhook returned.
    pub(super) fn restore_version(&self, before: &Value, after: &mut Value) {
        if self.converted && after.is_object() {
            after["apiVersion"] = before["apiVersion"].clone();
        }
    }
}

/// True for requests that no webhook receives: a webhook configuration could otherwise forbid its own removal.
pub(super) fn is_exempt(request: &WriteRequest<'_>) -> bool {
    *request.resource.group == *"admissionregistration.k8s.io"
}

/// Returns the invocation of the webhook: `None` if the webhook does not match the request. Errors: 404 if the
/// namespace does not exist; 403 if a condition cannot be evaluated and `failurePolicy` is `Fail`.
pub(super) fn invocation<'a>(
    webhook: &Webhook,
    request: &WriteRequest<'a>,
    context: &AdmissionContext<'a>,
    object: Option<&Value>,
) -> Result<Option<Invocation<'a>>, Status> {
    let Some(invocation) = match_rules(webhook, request, context) else {
        return Ok(None);
    };
    let of_object =
        |value: Option<&Value>| value.is_some_and(|value| webhook.object_selector.matches_object(value));
    if !webhook.object_selector.is_empty() && !of_object(object) && !of_object(request.old) {
        return Ok(None);
    }
    if !namespace_matches(webhook, request, context, object)? {
        return Ok(None);
    }
    let called = match_conditions_hold(webhook, &invocation, request, object)?;
    Ok(called.then_some(invocation))
}

fn match_rules<'a>(
    webhook: &Webhook,
    request: &WriteRequest<'a>,
    context: &AdmissionContext<'a>,
) -> Option<Invocation<'a>> {
    let wants = |rule: &WebhookRule, resource: &ResourceType| rule.matches(request, resource);
    if webhook.rules.iter().any(|rule| wants(rule, request.resource)) {
        return Some(Invocation { resource: request.resource, converted: false });
    }
    if !webhook.matches_equivalent {
        return None;
    }
    let requested = request.resource;
    let others = || {
        let resources = context.kinds.resources().iter();
        resources.filter(|other| other.group == requested.group && other.plural == requested.plural)
    };
    let found = webhook.rules.iter().find_map(|rule| others().find(|other| wants(rule, other)))?;
    Some(Invocation { resource: found, converted: true })
}

impl WebhookRule {
    fn matches(&self, request: &WriteRequest<'_>, resource: &ResourceType) -> bool {
        let any = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
        self.in_scope(request)
            && any(&self.operations, request.operation.name())
            && any(&self.groups, &resource.group)
            && any(&self.versions, &resource.version)
            && self.resources.iter().any(|wanted| {
                let (plural, subresource) = wanted.split_once('/').unwrap_or((wanted, ""));
                (plural == "*" || *plural == *resource.plural)
                    && (subresource == "*" || subresource == request.subresource)
            })
    }

    fn in_scope(&self, request: &WriteRequest<'_>) -> bool {
        // `request.namespace` of a Namespace is its own name, but Namespaces are cluster-scoped.
        let of_cluster = is_namespace(request) || request.namespace.is_empty();
        match &*self.scope {
            "Namespaced" => !of_cluster,
            "Cluster" => of_cluster,
            _ => true,
        }
    }
}

fn is_namespace(request: &WriteRequest<'_>) -> bool {
    request.resource.group.is_empty() && *request.resource.plural == *"namespaces"
}

fn namespace_matches(
    webhook: &Webhook,
    request: &WriteRequest<'_>,
    context: &AdmissionContext<'_>,
    object: Option<&Value>,
) -> Result<bool, Status> {
    let itself = is_namespace(request);
    if webhook.namespace_selector.is_empty() || (request.namespace.is_empty() && !itself) {
        return Ok(true);
    }
    // A Namespace that is created or updated is matched by its new labels.
    let written =
        matches!(request.operation, Operation::Create | Operation::Update) && request.subresource.is_empty();
    if let (true, true, Some(object)) = (itself, written, object) {
        return Ok(webhook.namespace_selector.matches_object(object));
    }
    let name = if itself { request.name } else { request.namespace };
    match (context.namespace)(name) {
        Some(namespace) => Ok(webhook.namespace_selector.matches_object(&namespace)),
        None => Err(Status::not_found("", "namespaces", name)),
    }
}

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
