//! cert-manager's own webhook: it serves with a certificate of a CA that it makes itself and keeps in a Secret, from
//! which its configurations get their CA bundle.
//!
//! Source: cert-manager 1.21 `pkg/server/tls/authority`. Here the Deployment stands for its process: its arguments
//! name the Secret.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    data,
    request::{PrivateKey, Request},
    resource, secret, timestamp,
    x509::Issued,
};
use crate::{
    client::Client,
    controllers::{Controller, Next, ObjectRef},
    meta,
    status::Status,
    store::Change,
};

/// The argument that names the Secret.
const ARGUMENT: &str = "--dynamic-serving-ca-secret-name=";

/// Makes the CA of cert-manager's webhook.
#[derive(Debug)]
pub(super) struct Webhook;

impl Controller for Webhook {
    fn name(&self) -> &'static str {
        "cert-manager-webhook"
    }

    fn concerned(&self, _: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        match resource(change) {
            ("apps", "deployments") if !change.deleted => {
                vec![ObjectRef::new("apps", "Deployment", &key.namespace, &key.name)]
            }
            _ => Vec::new(),
        }
    }

    fn reconcile<'a>(
        &'a self,
        client: &'a Client,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<Next, Status>> {
        Box::pin(async move {
            let Some(live) = client.get(object).filter(|live| !meta::is_deleting(live)) else {
                return Ok(Next::Wait);
            };
            let Some(name) = secret_name(&live) else { return Ok(Next::Wait) };
            let old = secret(client, &object.namespace, name);
            let complete = |secret: &Value| {
                ["ca.crt", "tls.crt", "tls.key"].iter().all(|key| data(secret, key).is_some())
            };
            if old.as_ref().is_some_and(complete) {
                return Ok(Next::Wait);
            }
            let issued = Issued::self_signed(&authority(), timestamp(client))
                .map_err(|error| Status::internal(&error.to_string()))?;
            let exists = old.is_some();
            let mut secret = old.unwrap_or_else(|| new_secret(&object.namespace, name));
            for (key, text) in
                [("ca.crt", &issued.ca), ("tls.crt", &issued.certificate), ("tls.key", &issued.key)]
            {
                secret["data"][key] = json!(STANDARD.encode(text));
            }
            if exists {
                client.update(secret).await?
            } else {
                client.create(secret).await?
            };
            Ok(Next::Wait)
        })
    }
}

/// The Secret a Deployment of the webhook keeps its CA in; nothing for other Deployments.
fn secret_name(deployment: &Value) -> Option<&str> {
    let containers = deployment.pointer("/spec/template/spec/containers")?.as_array()?;
    let arguments = containers.iter().filter_map(|container| container["args"].as_array()).flatten();
    arguments.filter_map(Value::as_str).find_map(|argument| argument.strip_prefix(ARGUMENT))
}

fn new_secret(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": name, "namespace": namespace,
            "annotations": {"cert-manager.io/allow-direct-injection": "true"},
        },
    })
}

/// The CA: a year, on P-384.
fn authority() -> Request {
    Request {
        common_name: "cert-manager-webhook-ca".to_owned(),
        is_ca: true,
        duration: Some("8760h".to_owned()),
        private_key: PrivateKey { algorithm: "ECDSA".to_owned(), size: 384 },
        ..Request::default()
    }
}
