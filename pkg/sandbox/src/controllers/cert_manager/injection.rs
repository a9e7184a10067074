//! CA injection: webhook configurations, definitions and APIServices that ask for it get the CA of a Certificate or of
//! a Secret.
//!
//! Source: cert-manager 1.21 `pkg/controller/cainjector`. Differs: `inject-apiserver-ca` is not served, for a server in
//! process has no CA.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CERTIFICATE_NAME, GROUP, resource, secret};
use crate::{
    client::Client,
    controllers::{Controller, Next, ObjectRef},
    meta,
    status::Status,
    store::{Change, Stored},
};

const FROM_CERTIFICATE: &str = "cert-manager.io/inject-ca-from";
const FROM_SECRET: &str = "cert-manager.io/inject-ca-from-secret";
/// On a Secret: its CA may be read without a Certificate.
const ALLOWED: &str = "cert-manager.io/allow-direct-injection";

/// Puts the CA into what asks for it.
#[derive(Debug, Default)]
pub(super) struct Injection {
    /// Where each object that asks gets its CA from.
    asking: Mutex<BTreeMap<ObjectRef, Source>>,
}

/// Where a CA comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Certificate { namespace: String, name: String },
    Secret { namespace: String, name: String },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    annotations: HashMap<String, String>,
}

impl Controller for Injection {
    fn name(&self) -> &'static str {
        "cert-manager-cainjector"
    }

    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        let source = |name: &str| (key.namespace.to_string(), name.to_owned());
        match resource(change) {
            (
                "admissionregistration.k8s.io",
                "validatingwebhookconfigurations" | "mutatingwebhookconfigurations",
            )
            | ("apiextensions.k8s.io", "customresourcedefinitions")
            | ("apiregistration.k8s.io", "apiservices") => self.note(client, change).into_iter().collect(),
            (GROUP, "certificates") => {
                let (namespace, name) = source(&key.name);
                self.asking_for(&[Source::Certificate { namespace, name }])
            }
            ("", "secrets") => {
                let (namespace, name) = source(&key.name);
                let mut sources = vec![Source::Secret { namespace, name }];
                if let Some(certificate) = annotations(&change.after).get(CERTIFICATE_NAME) {
                    let (namespace, name) = source(certificate);
                    sources.push(Source::Certificate { namespace, name });
                }
                self.asking_for(&sources)
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
            let Some(mut live) = client.get(object).filter(|live| !meta::is_deleting(live)) else {
                return Ok(Next::Wait);
            };
            let source = Source::of(|key| meta::annotation(&live, key));
            if let Some(ca) = source.and_then(|source| source.read(client))
                && inject(&mut live, &ca)
            {
                client.update(live).await?;
            }
            Ok(Next::Wait)
        })
    }
}

impl Injection {
    /// Keeps the index; returns the object if it asks for a CA.
    fn note(&self, client: &Client, change: &Change) -> Option<ObjectRef> {
        let object = client.object_ref(&change.after.key)?;
        let annotations = annotations(&change.after);
        let source = Source::of(|key| annotations.get(key).map(String::as_str));
        let Some(source) = source.filter(|_| !change.deleted) else {
            self.lock().remove(&object);
            return None;
        };
        self.lock().insert(object.clone(), source);
        Some(object)
    }

    fn asking_for(&self, sources: &[Source]) -> Vec<ObjectRef> {
        let asking = self.lock();
        asking
            .iter()
            .filter(|(_, source)| sources.contains(source))
            .map(|(object, _)| object.clone())
            .collect()
    }

    /// A panic elsewhere leaves the index whole: nothing is done halfway under the lock.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectRef, Source>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    /// Where the annotations say the CA comes from; a Certificate goes before a Secret.
    fn of<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let place = |value: &str| {
            let (namespace, name) = value.split_once('/')?;
            Some((namespace.to_owned(), name.to_owned()))
        };
        if let Some(value) = annotation(FROM_CERTIFICATE) {
            return place(value).map(|(namespace, name)| Self::Certificate { namespace, name });
        }
        place(annotation(FROM_SECRET)?).map(|(namespace, name)| Self::Secret { namespace, name })
    }

    /// The CA as Secrets hold it, in base64, if it is there and may be read.
    fn read(&self, client: &Client) -> Option<String> {
        let secret = match self {
            Self::Certificate { namespace, name } => {
                let certificate = client.get(&ObjectRef::new(GROUP, "Certificate", namespace, name))?;
                let secret = secret(client, namespace, certificate["spec"]["secretName"].as_str()?)?;
                (meta::annotation(&secret, CERTIFICATE_NAME)? == name).then_some(secret)?
            }
            Self::Secret { namespace, name } => {
                let secret = secret(client, namespace, name)?;
                (meta::annotation(&secret, ALLOWED)? == "true").then_some(secret)?
            }
        };
        Some(secret["data"]["ca.crt"].as_str()?.to_owned())
    }
}

/// Puts a CA everywhere it belongs in an object; returns whether it was not there before.
fn inject(object: &mut Value, ca: &str) -> bool {
    let configurations: Vec<&mut Value> = match object["kind"].as_str() {
        Some("CustomResourceDefinition") if object["spec"]["conversion"]["strategy"] == "Webhook" => {
            object.pointer_mut("/spec/conversion/webhook/clientConfig").into_iter().collect()
        }
        Some("APIService") => object.get_mut("spec").into_iter().collect(),
        _ => {
            let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten();
            webhooks.filter_map(|webhook| webhook.get_mut("clientConfig")).collect()
        }
    };
    let mut news = false;
    for configuration in configurations.into_iter().filter_map(Value::as_object_mut) {
        let old = configuration.insert("caBundle".to_owned(), json!(ca));
        news |= old.is_none_or(|old| old != ca);
    }
    news
}

fn annotations(stored: &Stored) -> HashMap<String, String> {
    serde_json::from_slice::<Body>(&stored.body).unwrap_or_default().metadata.annotations
}
