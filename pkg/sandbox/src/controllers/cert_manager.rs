//! Simulated cert-manager, as far as providers use cert-manager: self-signed Issuers become ready, Certificates get
//! Secrets, and annotated objects get their CA. The workload controllers simulate the Deployments of cert-manager.
//!
//! Source: cert-manager 1.21, its controllers, cainjector and webhook. Differs, or is deliberately absent:
//!
//! - Issuers that are not self-signed and their Certificates are ignored: no provider ships such an Issuer.
//! - Keys are ECDSA keys on P-256. Of the spec, a certificate contains only the DNS names.
//! - Certificates expire after 90 days and are not renewed.
//! - Secrets are made directly from Certificates: no CertificateRequests and no Events exist.
//! - `inject-apiserver-ca` is ignored, because an in-process server has no CA.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, IsCa, KeyPair, date_time_ymd};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Controller, ObjectRef, Reconciliation, Requeue};
use crate::{client::Client, clock::Clock, conditions, meta, status::Status, store::Change};

const GROUP: &str = "cert-manager.io";
/// The annotation of a Secret with the name of its Certificate.
const CERTIFICATE_NAME: &str = "cert-manager.io/certificate-name";
const ALLOW_INJECTION: &str = "cert-manager.io/allow-direct-injection";
/// The reason of a Certificate whose Secret belongs to another Certificate.
const INCORRECT_CERTIFICATE: &str = "IncorrectCertificate";
const LIFETIME_DAYS: i64 = 90;

/// The controller of Issuers, Certificates, CA injection, and the CA of the cert-manager webhook.
#[derive(Debug, Default)]
pub(super) struct CertManager {
    ca_sources: Mutex<BTreeMap<ObjectRef, CaSource>>,
}

/// The kind of a CA source, Certificate or Secret, and its `namespace/name`.
type CaSource = (&'static str, String);

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CertificateSpec {
    secret_name: String,
    issuer_ref: HashMap<String, String>,
    dns_names: Vec<String>,
}

impl Controller for CertManager {
    fn name(&self) -> &'static str {
        "cert-manager"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        let of_kind = |kind: &str, namespace| {
            let objects = client.list(GROUP, kind, namespace);
            objects.iter().map(ObjectRef::of).collect::<Vec<_>>()
        };
        let path = |name: &str| format!("{}/{name}", key.namespace);
        match (&*key.resource.group, &*key.resource.plural) {
            (GROUP, "clusterissuers") => {
                [of_kind("ClusterIssuer", None), of_kind("Certificate", None)].concat()
            }
            (GROUP, "issuers" | "certificates") => {
                let namespace = Some(&*key.namespace);
                let mut concerned = self.objects_with_source(&("Certificate", path(&key.name)));
                concerned.extend([of_kind("Issuer", namespace), of_kind("Certificate", namespace)].concat());
                concerned
            }
            ("", "secrets") => {
                let mut concerned = of_kind("Certificate", Some(&key.namespace));
                concerned.extend(self.objects_with_source(&("Secret", path(&key.name))));
                if let Some(certificate) = change.after.annotations().get(CERTIFICATE_NAME) {
                    concerned.extend(self.objects_with_source(&("Certificate", path(certificate))));
                }
                concerned
            }
            ("apps", "deployments") if !change.deleted => {
                vec![ObjectRef::new("apps", "Deployment", &key.namespace, &key.name)]
            }
            (
                "admissionregistration.k8s.io",
                "validatingwebhookconfigurations" | "mutatingwebhookconfigurations",
            )
            | ("apiextensions.k8s.io", "customresourcedefinitions")
            | ("apiregistration.k8s.io", "apiservices") => {
                self.record_ca_source(client, change).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            let Some(live) = client.get(object).filter(|live| !meta::is_deleting(live)) else {
                return Ok(Requeue::AwaitChange);
            };
            match &*object.kind {
                "Issuer" | "ClusterIssuer" => set_issuer_ready(client, live).await?,
                "Certificate" => issue(client, live).await?,
                "Deployment" => make_webhook_secret(client, &live).await?,
                _ => inject(&client.with_manager("cert-manager-cainjector"), live).await?,
            }
            Ok(Requeue::AwaitChange)
        })
    }
}

impl CertManager {
    /// Stores the CA source of an object; returns the object if it has a CA source.
    fn record_ca_source(&self, client: &Client, change: &Change) -> Option<ObjectRef> {
        let object = client.object_ref(&change.after.key)?;
        let annotations = change.after.annotations();
        let source = ca_source(|key| annotations.get(key).map(String::as_str));
        let Some(source) = source.filter(|_| !change.deleted) else {
            self.lock().remove(&object);
            return None;
        };
        self.lock().insert(object.clone(), source);
        Some(object)
    }

    fn objects_with_source(&self, source: &CaSource) -> Vec<ObjectRef> {
        let asking = self.lock();
        asking.iter().filter(|(_, from)| *from == source).map(|(object, _)| object.clone()).collect()
    }

    /// Locks the index. A panic elsewhere leaves the index consistent: every critical section completes its change.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectRef, CaSource>> {
        self.ca_sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn set_issuer_ready(client: &Client, mut issuer: Value) -> Result<(), Status> {
    let old = issuer["status"].clone();
    if issuer["spec"]["selfSigned"].is_object() {
        set_condition(&mut issuer, "Ready", "True", "IsReady", "", &client.now());
    }
    write_status(client, issuer, &old).await
}

async fn write_status(client: &Client, object: Value, old: &Value) -> Result<(), Status> {
    if object["status"] == *old { Ok(()) } else { client.update_status(object).await.map(drop) }
}

/// Issues a certificate if the Secret lacks a valid one and the Issuer is ready.
async fn issue(client: &Client, mut certificate: Value) -> Result<(), Status> {
    let Ok(spec) = CertificateSpec::deserialize(&certificate["spec"]) else { return Ok(()) };
    let (namespace, name) = (meta::namespace(&certificate).to_owned(), meta::name(&certificate).to_owned());
    let (old, now) = (certificate["status"].clone(), client.now());
    let secret = find_secret(client, &namespace, &spec.secret_name);
    let mut reason = spec.reissue_reason(secret.as_ref(), &name);
    if let Some(why) = reason.filter(|reason| *reason != INCORRECT_CERTIFICATE) {
        let message = "Issuing certificate as its Secret is not up to date";
        match spec.is_issuer_ready(client, &namespace).then(|| self_signed(&spec.dns_names, false, client)) {
            None => set_condition(&mut certificate, "Issuing", "True", why, message, &now),
            Some(Err(error)) => {
                set_condition(&mut certificate, "Issuing", "False", "Failed", &error.to_string(), &now);
            }
            Some(Ok(pair)) => {
                let mut secret =
                    secret.unwrap_or_else(|| new_secret("kubernetes.io/tls", &namespace, &spec.secret_name));
                secret["metadata"]["labels"]["controller.cert-manager.io/fao"] = "true".into();
                for (key, value) in spec.annotations(&name) {
                    secret["metadata"]["annotations"][key] = value.into();
                }
                write_certificate(client, secret, &pair).await?;
                reason = None;
                conditions::remove(&mut certificate, "Issuing");
                certificate["status"]["revision"] = (old["revision"].as_i64().unwrap_or_default() + 1).into();
                for (field, days) in [("notBefore", 0), ("renewalTime", 60), ("notAfter", LIFETIME_DAYS)] {
                    let time = client.timestamp().saturating_add(SignedDuration::from_hours(days * 24));
                    certificate["status"][field] = time.map(Clock::format).unwrap_or_default().into();
                }
            }
        }
    }
    let (status, reason, message) = match reason {
        None => ("True", "Ready", "Certificate is up to date and has not expired"),
        Some(reason) => ("False", reason, "The Secret of the Certificate is not up to date"),
    };
    set_condition(&mut certificate, "Ready", status, reason, message, &now);
    write_status(client, certificate, &old).await
}

impl CertificateSpec {
    /// Returns the reason to reissue a certificate: `None` if the Secret contains a valid one.
    fn reissue_reason(&self, secret: Option<&Value>, certificate: &str) -> Option<&'static str> {
        let Some(secret) = secret else { return Some("DoesNotExist") };
        let noted = |(key, value): &(&str, String)| meta::annotation(secret, key) == Some(value);
        if !has_data(secret, &["tls.crt", "tls.key"]) {
            return Some("MissingData");
        }
        if meta::annotation(secret, CERTIFICATE_NAME).is_some_and(|owner| owner != certificate) {
            return Some(INCORRECT_CERTIFICATE);
        }
        (!self.annotations(certificate).iter().all(noted)).then_some("SecretMismatch")
    }

    /// The annotations of the Secret; a difference shows that the spec has changed.
    fn annotations(&self, certificate: &str) -> [(&'static str, String); 5] {
        let issuer = |part: &str| self.issuer_ref.get(part).cloned().unwrap_or_default();
        [
            (CERTIFICATE_NAME, certificate.to_owned()),
            ("cert-manager.io/alt-names", self.dns_names.join(",")),
            ("cert-manager.io/issuer-name", issuer("name")),
            ("cert-manager.io/issuer-kind", issuer("kind")),
            ("cert-manager.io/issuer-group", issuer("group")),
        ]
    }

    fn is_issuer_ready(&self, client: &Client, namespace: &str) -> bool {
        let is_cluster = self.issuer_ref.get("kind").is_some_and(|kind| kind == "ClusterIssuer");
        let (kind, namespace) = if is_cluster { ("ClusterIssuer", "") } else { ("Issuer", namespace) };
        let name = self.issuer_ref.get("name").map(String::as_str).unwrap_or_default();
        let issuer = client.get(&ObjectRef::new(GROUP, kind, namespace, name));
        issuer.is_some_and(|issuer| conditions::is_true(&issuer["status"], "Ready"))
    }
}

/// Creates a self-signed certificate and its key, in PEM.
fn self_signed(dns_names: &[String], is_ca: bool, client: &Client) -> Result<(String, String), rcgen::Error> {
    let mut params = CertificateParams::new(dns_names)?;
    params.distinguished_name = DistinguishedName::new();
    params.is_ca = if is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::ExplicitNoCa };
    let since_epoch = client.timestamp().duration_since(Timestamp::UNIX_EPOCH).unsigned_abs();
    params.not_before = date_time_ymd(1970, 1, 1) + since_epoch;
    params.not_after = params.not_before + SignedDuration::from_hours(LIFETIME_DAYS * 24).unsigned_abs();
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

/// Creates the CA that the cert-manager webhook creates for itself; the Deployment represents the webhook process.
async fn make_webhook_secret(client: &Client, deployment: &Value) -> Result<(), Status> {
    let Some(name) = webhook_secret(deployment) else { return Ok(()) };
    let old = find_secret(client, meta::namespace(deployment), name);
    if old.as_ref().is_some_and(|secret| has_data(secret, &["ca.crt", "tls.crt", "tls.key"])) {
        return Ok(());
    }
    let pair = self_signed(&[], true, client).map_err(|error| Status::internal(&error.to_string()))?;
    let mut secret = old.unwrap_or_else(|| new_secret("Opaque", meta::namespace(deployment), name));
    secret["metadata"]["annotations"][ALLOW_INJECTION] = "true".into();
    write_certificate(client, secret, &pair).await
}

fn webhook_secret(deployment: &Value) -> Option<&str> {
    let containers = deployment.pointer("/spec/template/spec/containers")?.as_array()?;
    let mut arguments = containers.iter().filter_map(|container| container["args"].as_array()).flatten();
    arguments.find_map(|argument| argument.as_str()?.strip_prefix("--dynamic-serving-ca-secret-name="))
}

/// Writes the CA into every client configuration of an annotated object.
async fn inject(client: &Client, mut object: Value) -> Result<(), Status> {
    let Some(ca) =
        ca_source(|key| meta::annotation(&object, key)).and_then(|source| read_ca(client, &source))
    else {
        return Ok(());
    };
    let old = object.clone();
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
    for configuration in configurations.into_iter().filter_map(Value::as_object_mut) {
        configuration.insert("caBundle".to_owned(), ca.clone());
    }
    if object != old {
        client.update(object).await?;
    }
    Ok(())
}

/// Returns the CA source that annotations name; a Certificate takes precedence over a Secret.
fn ca_source<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Option<CaSource> {
    let source = |kind, key| Some((kind, annotation(key)?.to_owned()));
    source("Certificate", "cert-manager.io/inject-ca-from")
        .or_else(|| source("Secret", "cert-manager.io/inject-ca-from-secret"))
}

/// Returns the CA in base64, if it exists and injection is allowed.
fn read_ca(client: &Client, (kind, path): &CaSource) -> Option<Value> {
    let (namespace, name) = path.split_once('/')?;
    let (secret, allowed) = if *kind == "Secret" {
        (find_secret(client, namespace, name)?, (ALLOW_INJECTION, "true"))
    } else {
        let certificate = client.get(&ObjectRef::new(GROUP, kind, namespace, name))?;
        let secret = certificate["spec"]["secretName"].as_str()?;
        (find_secret(client, namespace, secret)?, (CERTIFICATE_NAME, name))
    };
    let ca = secret["data"].get("ca.crt")?.clone();
    (meta::annotation(&secret, allowed.0) == Some(allowed.1)).then_some(ca)
}

fn find_secret(client: &Client, namespace: &str, name: &str) -> Option<Value> {
    client.get(&ObjectRef::new("", "Secret", namespace, name))
}

fn has_data(secret: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| secret["data"][key].as_str().is_some_and(|text| !text.is_empty()))
}

fn new_secret(kind: &str, namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": kind,
        "metadata": {"name": name, "namespace": namespace},
    })
}

/// Writes a Secret with a self-signed certificate, which is also the CA of the Secret.
async fn write_certificate(
    client: &Client,
    mut secret: Value,
    (certificate, key): &(String, String),
) -> Result<(), Status> {
    for (field, text) in [("tls.crt", certificate), ("tls.key", key), ("ca.crt", certificate)] {
        secret["data"][field] = STANDARD.encode(text).into();
    }
    let exists = meta::field(&secret, "uid").is_some();
    if exists { client.update(secret).await } else { client.create(secret).await }.map(drop)
}

fn set_condition(object: &mut Value, kind: &str, status: &str, reason: &str, message: &str, now: &str) {
    let mut condition = conditions::build(&object["status"], kind, status, reason, message, now);
    condition["observedGeneration"] = meta::generation(object).into();
    conditions::set(object, condition);
}

#[cfg(test)]
mod tests;
