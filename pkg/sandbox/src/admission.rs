//! Admission webhooks: HTTP callbacks that may change or refuse a write before the object is stored.
//!
//! ```text
//! configurations ─► Webhooks, in call order                     (rebuilt after each change of a configuration)
//! request ─► matching: rules, selectors, conditions ─► review ─► call ─► patch, warnings, refusal
//! ```
//!
//! Source: kube-apiserver 1.36, `apiserver/pkg/admission/plugin/webhook`. Mutating webhooks run one after the other,
//! ordered by the name of their configuration and their index in the configuration. If a later webhook changes the
//! object, each earlier webhook with `reinvocationPolicy: IfNeeded` is called once more. Validating webhooks run
//! concurrently; the first refusal in call order is the answer.
//!
//! Deliberately absent: audit annotations, admission policies, and version conversion beyond `apiVersion`.

mod call;
mod matching;
mod review;
mod webhook;

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::Value;

pub(crate) use self::webhook::{Webhook, Webhooks};
use self::{matching::Invocation, review::ReviewResponse};
use crate::{
    kinds::{Kinds, ResourceType},
    patch,
    status::Status,
};

/// The operation of a write request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    /// A change of the object or of one of its subresources.
    Update,
    Delete,
}

/// The treatment of webhooks that are reached through a Service, because the sandbox has no Pod network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServiceWebhooks {
    #[default]
    /// Calls succeed without a request.
    Ignore,
    /// Calls fail as if the Service had no endpoints; `failurePolicy` of the webhook decides.
    Refuse,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
}

/// A write request before the object is stored, without the new object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteRequest<'a> {
    pub(crate) operation: Operation,
    pub(crate) resource: &'a ResourceType,
    /// Empty if the request addresses the object itself.
    pub(crate) subresource: &'a str,
    /// Empty for cluster-scoped objects. For a Namespace, the name of the Namespace.
    pub(crate) namespace: &'a str,
    /// Empty for a creation with a generated name and for the items of a deleted collection.
    pub(crate) name: &'a str,
    /// The complete stored object; absent at a creation.
    pub(crate) old: Option<&'a Value>,
    pub(crate) user: &'a User,
    /// True if nothing is stored.
    pub(crate) dry_run: bool,
    /// `CreateOptions`, `UpdateOptions`, `PatchOptions`, `DeleteOptions`, with `apiVersion` and `kind`.
    pub(crate) options: &'a Value,
}

/// The server state that calls of webhooks need besides the request.
#[derive(Clone, Copy)]
pub(crate) struct AdmissionContext<'a> {
    /// The served kinds; a webhook may require another version of the resource than the version of the request.
    pub(crate) kinds: &'a Kinds,
    /// Returns the complete Namespace with a name, for its labels.
    pub(crate) namespace: &'a (dyn Fn(&str) -> Option<Value> + Send + Sync),
    /// Sets defaults after a webhook has changed the object.
    pub(crate) set_defaults: &'a (dyn Fn(&mut Value) + Send + Sync),
    pub(crate) services: ServiceWebhooks,
}

/// A webhook call that did not admit the request.
#[derive(Debug)]
enum Failure {
    /// The call failed or its answer is invalid; `failurePolicy` decides. The text follows `failed calling webhook`.
    Call(String),
    /// The webhook refused the request with this status.
    Refused(Status),
}

/// Calls the mutating webhooks and returns the changed object and the warnings of the webhooks. `object` is the new
/// object as it would be stored; absent at a deletion.
///
/// # Errors
/// Returns the refusal of a webhook with its own message. Returns 500 if a call fails and `failurePolicy` is `Fail`.
pub(crate) async fn mutate(
    webhooks: &Webhooks,
    request: &WriteRequest<'_>,
    context: &AdmissionContext<'_>,
    mut object: Option<Value>,
) -> Result<(Option<Value>, Vec<String>), Status> {
    let mut warnings = Vec::new();
    if webhooks.mutating().is_empty() || matching::is_exempt(request) {
        return Ok((object, warnings));
    }
    // Indices of called webhooks with `reinvocationPolicy: IfNeeded`, and of webhooks to call again.
    let (mut waiting, mut again) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..2 {
        let mut changed_by_any = false;
        for (index, webhook) in webhooks.mutating().iter().enumerate() {
            let Some(invocation) = matching::invocation(webhook, request, context, object.as_ref())? else {
                continue;
            };
            if round == 1 && !again.contains(&index) {
                continue;
            }
            let called =
                mutate_once(webhook, &invocation, request, context, &mut object, &mut warnings).await;
            if apply_failure_policy(webhook, called)? == Some(true) {
                changed_by_any = true;
                again.append(&mut waiting);
            }
            if webhook.reinvoke_if_needed {
                waiting.insert(index);
            }
        }
        if !changed_by_any {
            break;
        }
    }
    Ok((object, warnings))
}

/// Calls the validating webhooks with the object as it would be stored (absent at a deletion). Returns their warnings.
///
/// # Errors
/// Returns the refusal of a webhook with its own message. Returns 500 if a call fails and `failurePolicy` is `Fail`.
pub(crate) async fn validate(
    webhooks: &Webhooks,
    request: &WriteRequest<'_>,
    context: &AdmissionContext<'_>,
    object: Option<&Value>,
) -> Result<Vec<String>, Status> {
    if webhooks.validating().is_empty() || matching::is_exempt(request) {
        return Ok(Vec::new());
    }
    let mut calls = Vec::new();
    for webhook in webhooks.validating() {
        if let Some(invocation) = matching::invocation(webhook, request, context, object)? {
            calls.push(async move {
                let verdict = send_review(webhook, &invocation, request, context, object, false).await;
                (webhook, verdict)
            });
        }
    }
    let mut warnings = Vec::new();
    let mut refusal = None;
    for (webhook, verdict) in join_all(calls).await {
        let verdict = verdict.and_then(|verdict| accept_response(webhook, verdict, &mut warnings));
        match apply_failure_policy(webhook, verdict) {
            Ok(_) => {}
            Err(status) => refusal = refusal.or(Some(status)),
        }
    }
    refusal.map_or(Ok(warnings), Err)
}

/// Calls one webhook and returns true if the webhook changed the object.
async fn mutate_once(
    webhook: &Webhook,
    invocation: &Invocation<'_>,
    request: &WriteRequest<'_>,
    context: &AdmissionContext<'_>,
    object: &mut Option<Value>,
    warnings: &mut Vec<String>,
) -> Result<bool, Failure> {
    let verdict = send_review(webhook, invocation, request, context, object.as_ref(), true).await?;
    let Some(operations) = accept_response(webhook, verdict, warnings)? else {
        return Ok(false);
    };
    let Some(before) = object else {
        let what = "attempted to modify the object, which is not supported for this operation";
        return Err(Failure::Refused(Status::internal(&format!(
            "admission webhook \"{}\" {what}",
            webhook.name
        ))));
    };
    let sent = invocation.in_webhook_version(before);
    let patched = patch::json(&sent, &operations);
    let mut after = patched.map_err(|status| Failure::Refused(Status::internal(&status.message)))?;
    invocation.restore_version(before, &mut after);
    (context.set_defaults)(&mut after);
    let changed = *before != after;
    *before = after;
    Ok(changed)
}

/// Sends one review and reads the verdict.
async fn send_review(
    webhook: &Webhook,
    invocation: &Invocation<'_>,
    request: &WriteRequest<'_>,
    context: &AdmissionContext<'_>,
    object: Option<&Value>,
    mutating: bool,
) -> Result<ReviewResponse, Failure> {
    if request.dry_run && !webhook.is_dry_run_safe {
        let words = format!("admission webhook \"{}\" does not support dry run", webhook.name);
        return Err(Failure::Refused(Status::bad_request(words)));
    }
    let Some(url) = webhook.url(context.services).map_err(Failure::Call)? else {
        return Ok(ReviewResponse::default());
    };
    let review = review::Review::of(webhook, invocation, request, object).ok_or_else(|| {
        Failure::Call(
            "could not create admission objects: webhook does not accept known \
                                      AdmissionReview versions (v1, v1beta1)"
                .to_owned(),
        )
    })?;
    let answer = call::post(&url, &webhook.ca_bundle, webhook.timeout, review.body()).await;
    let answer = answer.and_then(|body| review.parse_response(&body));
    let answer = answer.map_err(|error| Failure::Call(format!("failed to call webhook: {error}")))?;
    let verdict = review.read_response(&answer, mutating);
    verdict.map_err(|error| Failure::Call(format!("received invalid webhook response: {error}")))
}

/// Collects the warnings of a verdict and returns its patch operations. Fails if the webhook refused the request.
fn accept_response(
    webhook: &Webhook,
    verdict: ReviewResponse,
    warnings: &mut Vec<String>,
) -> Result<Option<Value>, Failure> {
    warnings.extend(verdict.warnings);
    if !verdict.allowed {
        return Err(Failure::Refused(review::refusal(&webhook.name, &verdict.status)));
    }
    match verdict.patch {
        None => Ok(None),
        Some(patch) => review::operations(&patch).map_err(Failure::Call),
    }
}

/// Applies `failurePolicy` to a failed call: `None` if the failure is ignored.
fn apply_failure_policy<T>(webhook: &Webhook, result: Result<T, Failure>) -> Result<Option<T>, Status> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Refused(status)) => Err(status),
        Err(Failure::Call(_)) if webhook.ignores_failure => Ok(None),
        Err(Failure::Call(why)) => {
            Err(Status::internal(&format!("failed calling webhook \"{}\": {why}", webhook.name)))
        }
    }
}

impl Operation {
    /// The name of the operation in reviews and rules.
    fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

#[cfg(test)]
mod tests;
