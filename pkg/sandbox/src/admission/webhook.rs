//! Webhooks, read from their configurations.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::ServiceWebhooks;
use crate::selector::LabelSelector;

/// All webhooks of a server in call order, rebuilt when a configuration changes.
#[derive(Debug, Default)]
pub(crate) struct Webhooks {
    mutating: Vec<Webhook>,
    validating: Vec<Webhook>,
}

#[derive(Debug)]
pub(crate) struct Webhook {
    pub(super) name: String,
    target: WebhookTarget,
    /// The CA bundle in PEM that verifies the certificate of the webhook.
    pub(super) ca_bundle: Vec<u8>,
    pub(super) timeout: Duration,
    pub(super) rules: Vec<WebhookRule>,
    pub(super) namespace_selector: LabelSelector,
    pub(super) object_selector: LabelSelector,
    /// `matchPolicy: Equivalent`: rules also match through other versions of the resource.
    pub(super) matches_equivalent: bool,
    /// The name and the expression of each match condition.
    pub(super) match_conditions: Vec<(String, String)>,
    pub(super) ignores_failure: bool,
    /// `reinvocationPolicy: IfNeeded`.
    pub(super) reinvoke_if_needed: bool,
    /// True if a dry run may call the webhook.
    pub(super) is_dry_run_safe: bool,
    pub(super) review_versions: Vec<String>,
}

#[derive(Debug)]
enum WebhookTarget {
    Url(String),
    Service { namespace: String, name: String, path: String, port: i64 },
}

/// A rule of a webhook; `*` matches everything.
#[derive(Debug)]
pub(super) struct WebhookRule {
    pub(super) operations: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) versions: Vec<String>,
    pub(super) resources: Vec<String>,
    /// `Namespaced`, `Cluster` or `*`.
    pub(super) scope: String,
}

impl Webhooks {
    /// Reads all `MutatingWebhookConfiguration` and `ValidatingWebhookConfiguration` objects, with defaults filled in.
    pub(crate) fn of(mutating: &[Value], validating: &[Value]) -> Self {
        Self { mutating: read_webhooks(mutating), validating: read_webhooks(validating) }
    }

    /// True if no webhooks exist.
    pub(crate) fn is_empty(&self) -> bool {
        self.mutating.is_empty() && self.validating.is_empty()
    }

    pub(crate) fn mutating(&self) -> &[Webhook] {
        &self.mutating
    }

    pub(crate) fn validating(&self) -> &[Webhook] {
        &self.validating
    }
}

fn read_webhooks(configurations: &[Value]) -> Vec<Webhook> {
    let mut sorted: Vec<_> = configurations.iter().collect();
    sorted.sort_by_key(|configuration| configuration["metadata"]["name"].as_str());
    let webhooks =
        sorted.into_iter().filter_map(|configuration| configuration["webhooks"].as_array()).flatten();
    webhooks.map(Webhook::of).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// Reads a label selector; a missing selector selects everything.
fn selector(value: &Value) -> LabelSelector {
    if value.is_null() { LabelSelector::default() } else { LabelSelector::of_object(value) }
}

impl Webhook {
    fn of(webhook: &Value) -> Self {
        let client = &webhook["clientConfig"];
        let service = &client["service"];
        let target = match client["url"].as_str() {
            Some(url) => WebhookTarget::Url(url.to_owned()),
            None => WebhookTarget::Service {
                namespace: text(&service["namespace"]),
                name: text(&service["name"]),
                path: text(&service["path"]),
                port: service["port"].as_i64().unwrap_or(443),
            },
        };
        let conditions = webhook["matchConditions"].as_array().into_iter().flatten();
        Self {
            name: text(&webhook["name"]),
            target,
            ca_bundle: BASE64_STANDARD.decode(text(&client["caBundle"])).unwrap_or_default(),
            timeout: Duration::from_secs(webhook["timeoutSeconds"].as_u64().unwrap_or(10)),
            rules: webhook["rules"].as_array().into_iter().flatten().map(WebhookRule::of).collect(),
            namespace_selector: selector(&webhook["namespaceSelector"]),
            object_selector: selector(&webhook["objectSelector"]),
            matches_equivalent: webhook["matchPolicy"] != "Exact",
            match_conditions: conditions.map(|one| (text(&one["name"]), text(&one["expression"]))).collect(),
            ignores_failure: webhook["failurePolicy"] == "Ignore",
            reinvoke_if_needed: webhook["reinvocationPolicy"] == "IfNeeded",
            is_dry_run_safe: matches!(webhook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun")),
            review_versions: texts(&webhook["admissionReviewVersions"]),
        }
    }

    /// Returns the URL as the real server prints it: `None` if the call succeeds without a request.
    pub(super) fn url(&self, services: ServiceWebhooks) -> Result<Option<String>, String> {
        let timeout = self.timeout.as_secs();
        match (&self.target, services) {
            (WebhookTarget::Url(url), _) => {
                let path = if url.splitn(4, '/').count() < 4 { "/" } else { "" };
                Ok(Some(format!("{url}{path}?timeout={timeout}s")))
            }
            (WebhookTarget::Service { .. }, ServiceWebhooks::Ignore) => Ok(None),
            (WebhookTarget::Service { namespace, name, path, port }, ServiceWebhooks::Refuse) => {
                let path = path.trim_start_matches('/');
                Err(format!(
                    "failed to call webhook: Post \"https://{name}.{namespace}.svc:{port}/{path}?timeout={timeout}s\": \
                     no endpoints available for service \"{name}\""
                ))
            }
        }
    }
}

impl WebhookRule {
    fn of(rule: &Value) -> Self {
        Self {
            operations: texts(&rule["operations"]),
            groups: texts(&rule["apiGroups"]),
            versions: texts(&rule["apiVersions"]),
            resources: texts(&rule["resources"]),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
        }
    }
}
