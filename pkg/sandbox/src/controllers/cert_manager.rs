//! cert-manager, played: Issuers become ready, Certificates get Secrets that hold what they ask for, and what trusts
//! them gets their CA.
//!
//! ```text
//!              ┌──────► issuers ──► certificates ──► Secret ──► injection ──► webhook configurations,
//! Secret of a CA        Ready       (request, x509)                 ▲        definitions, APIServices
//!                                         webhook ──► Secret of its own CA
//! ```
//!
//! It acts once the definitions of cert-manager are there; the Deployments of cert-manager are workloads like others.
//! Source: cert-manager 1.21, its controllers, cainjector and webhook. Differs, or is absent on purpose:
//!
//! - Issuers that depend on somebody else (ACME, Vault, Venafi, those of other groups) are left alone.
//! - One step from Certificate to Secret: no CertificateRequest, no temporary key, no Events.
//! - Where RSA is asked for (the default), and for the curve P-521, the key is one of P-256, in PKCS #8: the cryptography
//!   of this program cannot make others. CA keys of users are read as PKCS #8 too.
//! - Of several organizations and the like in a subject, a certificate carries the first.
//! - Keystores and additional output formats are not written. A Secret is issued anew when the common name, the
//!   alternative names, `isCA`, the organization or the issuer change, not when its template or the usages do.
//! - Everything is written by update, where cert-manager applies Secrets and CA bundles.

mod certificates;
mod injection;
mod issuers;
mod request;
mod webhook;
mod x509;

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::Value;

use super::{Controller, ObjectRef, conditions};
use crate::{client::Client, meta, store::Change};

const GROUP: &str = "cert-manager.io";
/// Where the Secrets of ClusterIssuers are, as cert-manager's own manifests set it.
const CLUSTER_RESOURCES: &str = "cert-manager";
/// On a Secret: the Certificate it was made for.
const CERTIFICATE_NAME: &str = "cert-manager.io/certificate-name";

/// The controllers of cert-manager.
pub(crate) fn controllers() -> Vec<Arc<dyn Controller>> {
    vec![
        Arc::new(issuers::Issuers),
        Arc::new(certificates::Certificates),
        Arc::new(injection::Injection::default()),
        Arc::new(webhook::Webhook),
    ]
}

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    status: bool,
    reason: &'static str,
    /// Left away when empty.
    message: String,
}

impl Verdict {
    fn yes(reason: &'static str, message: impl Into<String>) -> Self {
        Self { status: true, reason, message: message.into() }
    }

    fn no(reason: &'static str, message: impl Into<String>) -> Self {
        Self { status: false, reason, message: message.into() }
    }
}

/// Sets a condition; its time stays as long as its status does.
fn set_condition(object: &mut Value, kind: &str, verdict: &Verdict, now: &str) {
    let Verdict { status, reason, message } = verdict;
    let status = if *status { "True" } else { "False" };
    let mut condition = conditions::next(&object["status"], kind, status, reason, message, now);
    condition["observedGeneration"] = meta::generation(object).into();
    conditions::set(object, condition);
}

/// The group and the plural of what changed.
fn resource(change: &Change) -> (&str, &str) {
    let resource = &change.after.key.resource;
    (&resource.group, &resource.plural)
}

fn secret(client: &Client, namespace: &str, name: &str) -> Option<Value> {
    client.get(&ObjectRef::new("", "Secret", namespace, name))
}

/// What a Secret holds under a key; nothing when it is not there or empty.
fn data(secret: &Value, key: &str) -> Option<String> {
    let bytes = STANDARD.decode(secret["data"][key].as_str()?).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

fn timestamp(client: &Client) -> Timestamp {
    client.now().parse().expect("a clock prints RFC 3339")
}

#[cfg(test)]
mod tests;
