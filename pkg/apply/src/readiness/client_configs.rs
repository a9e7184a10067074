//! The endpoints that the API server must call.

use manifest::{Object, Value};

/// A service or an address that the API server calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Endpoint {
    /// A service of the cluster.
    Service { namespace: String, name: String },
    /// A URL.
    Url(String),
}

/// True if the object makes the API server call an endpoint.
pub(super) fn has_client_config(object: &Object) -> bool {
    client_configs(object).next().is_some()
}

/// Returns every `clientConfig` of a webhook configuration, or the one of a definition with a conversion webhook.
pub(super) fn client_configs(object: &Object) -> impl Iterator<Item = &Value> {
    let conversion = object
        .is_crd()
        .then(|| object.get(&["spec", "conversion", "webhook", "clientConfig"]))
        .flatten()
        .filter(|_| {
            object.get(&["spec", "conversion", "strategy"]).is_some_and(|strategy| strategy == "Webhook")
        });
    webhooks(object).filter_map(|webhook| webhook.get("clientConfig")).chain(conversion)
}

/// Returns the webhooks of a webhook configuration.
pub(super) fn webhooks(object: &Object) -> impl Iterator<Item = &Value> {
    let is_configuration = object.group() == "admissionregistration.k8s.io"
        && matches!(object.kind(), "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration");
    let webhooks = is_configuration.then(|| object.get(&["webhooks"]).and_then(Value::as_array)).flatten();
    webhooks.into_iter().flatten()
}

impl Endpoint {
    /// Reads a `clientConfig`. None if it names no endpoint.
    pub(super) fn of(client_config: &Value) -> Option<Self> {
        if let Some(url) = client_config["url"].as_str() {
            return Some(Self::Url(url.to_owned()));
        }
        let service = client_config.get("service")?;
        let (namespace, name) = (service["namespace"].as_str()?, service["name"].as_str()?);
        Some(Self::Service { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Returns the namespace for a probe of the endpoint.
    pub(super) fn namespace(&self) -> &str {
        match self {
            Self::Service { namespace, .. } => namespace,
            Self::Url(_) => "default",
        }
    }
}
