//! Certificates: each gets a Secret with a certificate its issuer signed, and a new one before that ends.
//!
//! Source: cert-manager 1.21 `internal/controller/certificates/policies` (when a Secret does not do),
//! `pkg/controller/certificates/{trigger,issuing,readiness}`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use rcgen::{DnType, KeyPair};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::{
    CERTIFICATE_NAME, GROUP, Verdict, data,
    issuers::Signer,
    request::{IssuerRef, Name, Request},
    resource, secret, set_condition, timestamp,
    x509::{Certificate, Issued},
};
use crate::{
    client::Client,
    clock::Clock,
    controllers::{Controller, Next, ObjectRef, conditions},
    meta,
    status::Status,
    store::Change,
};

const NAME: &str = "cert-manager.io/issuer-name";
const KIND: &str = "cert-manager.io/issuer-kind";
const ISSUER_GROUP: &str = "cert-manager.io/issuer-group";
/// The one reason to issue anew while what is there is still good.
const RENEWING: &str = "Renewing";

/// Keeps the Secrets of Certificates.
#[derive(Debug)]
pub(super) struct Certificates;

impl Controller for Certificates {
    fn name(&self) -> &'static str {
        "cert-manager-certificates-issuing"
    }

    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        let issued_by = |kind: &str, certificate: &Value| {
            let issuer = &certificate["spec"]["issuerRef"];
            let named = issuer["kind"].as_str().filter(|named| !named.is_empty()).unwrap_or("Issuer");
            issuer["name"] == *key.name && named == kind
        };
        let certificates = |namespace: Option<&str>, wanted: &dyn Fn(&Value) -> bool| {
            let all = client.list(GROUP, "Certificate", namespace).into_iter();
            all.filter(wanted).map(|found| place(meta::namespace(&found), meta::name(&found))).collect()
        };
        match resource(change) {
            (GROUP, "certificates") => {
                // One that goes may leave its Secret to another.
                let mut concerned = vec![place(&key.namespace, &key.name)];
                if change.deleted {
                    concerned = certificates(Some(&key.namespace), &|_| true);
                }
                concerned
            }
            (GROUP, "issuers") => certificates(Some(&key.namespace), &|found| issued_by("Issuer", found)),
            (GROUP, "clusterissuers") => certificates(None, &|found| issued_by("ClusterIssuer", found)),
            ("", "secrets") => {
                certificates(Some(&key.namespace), &|found| found["spec"]["secretName"] == *key.name)
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
            let Ok(request) = Request::deserialize(&live["spec"]) else { return Ok(Next::Wait) };
            let mut kept = secret(client, &object.namespace, &request.secret_name);
            let mut trouble = find_trouble(kept.as_ref(), &object.name, &request, timestamp(client));
            let mut new = live.clone();
            if let Some(found) = &trouble {
                if is_holder(client, kept.as_ref(), object)
                    && let Some(written) = issue(client, &mut new, &request, found, kept.as_ref()).await?
                {
                    (kept, trouble) = (Some(written), None);
                }
            } else {
                conditions::remove(&mut new, "Issuing");
            }
            let renewal = describe(&mut new, kept.as_ref(), &request, trouble, &client.now());
            if new["status"] != live["status"] {
                client.update_status(new).await?;
            }
            let wait = renewal.map(|at| at.duration_since(timestamp(client)));
            Ok(match wait.filter(SignedDuration::is_positive) {
                Some(wait) => Next::After(wait.unsigned_abs()),
                None => Next::Wait,
            })
        })
    }
}

/// Why a Secret does not do for a Certificate; nothing when it does.
fn find_trouble(secret: Option<&Value>, name: &str, request: &Request, now: Timestamp) -> Option<Verdict> {
    let no = |reason, why: &str| Some(Verdict::no(reason, format!("Issuing certificate as Secret {why}")));
    let Some(secret) = secret else { return no("DoesNotExist", "does not exist") };
    if secret["data"].is_null() {
        return no("MissingData", "does not contain any data");
    }
    let Some(key) = data(secret, "tls.key") else {
        return no("MissingData", "does not contain a private key");
    };
    let Some(chain) = data(secret, "tls.crt") else {
        return no("MissingData", "does not contain a certificate");
    };
    let Ok(key) = KeyPair::from_pem(&key) else {
        return no("InvalidKeyPair", "contains invalid private key data");
    };
    let Some(certificate) = Certificate::read(&chain) else {
        return no("InvalidCertificate", "contains an invalid certificate");
    };
    if !certificate.belongs_to(&key) {
        return no("InvalidKeyPair", "contains a private key that does not match the certificate");
    }
    let issuer = &request.issuer_ref;
    let or =
        |key, default| meta::annotation(secret, key).filter(|value| !value.is_empty()).unwrap_or(default);
    let noted = (or(NAME, &issuer.name), or(KIND, "Issuer"), or(ISSUER_GROUP, GROUP));
    if noted != (&*issuer.name, issuer.kind(), issuer.group()) {
        let noted = format!("{}.{}/{}", noted.1, noted.2, noted.0);
        return no("IncorrectIssuer", &format!("was previously issued by {noted:?}"));
    }
    if let Some(other) = meta::annotation(secret, CERTIFICATE_NAME).filter(|other| *other != name) {
        return Some(Verdict::no(
            "IncorrectCertificate",
            format!(
                "Secret was issued for {other:?}. If this message is not transient, you might have two conflicting \
                 Certificates pointing to the same secret."
            ),
        ));
    }
    if !certificate.answers(request) {
        return no("SecretMismatch", "is not up to date for spec");
    }
    if now >= certificate.not_after {
        let end = Clock::print(certificate.not_after);
        return Some(Verdict::no("Expired", format!("Certificate expired on {end}")));
    }
    let renewal = request.renewal(certificate.not_before, certificate.not_after);
    (now >= renewal).then(|| {
        let at = Clock::print(renewal);
        Verdict::no(RENEWING, format!("Renewing certificate as renewal was scheduled at {at}"))
    })
}

/// Whether a Certificate may write its Secret: not when that was made for another one that still names it, or the two
/// would replace it in turns for ever.
fn is_holder(client: &Client, secret: Option<&Value>, certificate: &ObjectRef) -> bool {
    let holder =
        secret.and_then(|secret| Some((meta::annotation(secret, CERTIFICATE_NAME)?, meta::name(secret))));
    holder.is_none_or(|(holder, secret)| {
        let other = client.get(&place(&certificate.namespace, holder));
        holder == certificate.name || other.is_none_or(|other| other["spec"]["secretName"] != secret)
    })
}

/// Issues a certificate if its issuer is ready, and says in the status how far that is; returns the Secret.
async fn issue(
    client: &Client,
    certificate: &mut Value,
    request: &Request,
    trouble: &Verdict,
    old: Option<&Value>,
) -> Result<Option<Value>, Status> {
    let namespace = meta::namespace(certificate);
    let filled = signer(client, namespace, &request.issuer_ref).map(|signer| {
        let issued = signer.sign(client, request).map_err(|error| error.to_string())?;
        let secret = fill_secret(old, certificate, request, &issued);
        // What would not do would be issued again for ever.
        match find_trouble(Some(&secret), meta::name(certificate), request, timestamp(client)) {
            Some(trouble) => Err(trouble.message),
            None => Ok(secret),
        }
    });
    let progress = match filled {
        None => Verdict::yes(trouble.reason, &*trouble.message),
        Some(Err(why)) => Verdict::no(
            "Failed",
            format!("The certificate request has failed to complete and will be retried: {why}"),
        ),
        Some(Ok(secret)) => {
            let written =
                if old.is_some() { client.update(secret).await } else { client.create(secret).await }?;
            let revision = certificate["status"]["revision"].as_i64().unwrap_or_default();
            conditions::status_mut(certificate).insert("revision".to_owned(), (revision + 1).into());
            conditions::remove(certificate, "Issuing");
            return Ok(Some(written));
        }
    };
    set_condition(certificate, "Issuing", &progress, &client.now());
    Ok(None)
}

/// What the issuer of a Certificate signs with; nothing when it is not there or not ready.
fn signer(client: &Client, namespace: &str, issuer: &IssuerRef) -> Option<Signer> {
    if issuer.group() != GROUP {
        return None;
    }
    let namespace = if issuer.kind() == "Issuer" { namespace } else { "" };
    let issuer = client.get(&ObjectRef::new(GROUP, issuer.kind(), namespace, &issuer.name))?;
    conditions::is_true(&issuer["status"], "Ready").then_some(())?;
    Signer::of(client, &issuer)?.ok()
}

/// The Secret with what was issued; what else was in it stays.
/// Source: cert-manager 1.21 `pkg/controller/certificates/issuing/internal/secret.go`.
fn fill_secret(old: Option<&Value>, certificate: &Value, request: &Request, issued: &Issued) -> Value {
    let mut secret = old.cloned().unwrap_or_else(|| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": request.secret_name, "namespace": meta::namespace(certificate)},
        })
    });
    let data = [("tls.crt", &issued.certificate), ("tls.key", &issued.key), ("ca.crt", &issued.ca)];
    for (key, text) in data {
        secret["data"][key] = json!(STANDARD.encode(text));
    }
    let mut labels = request.secret_template.labels.clone();
    labels.insert("controller.cert-manager.io/fao".to_owned(), json!("true"));
    let mut annotations = request.secret_template.annotations.clone();
    annotations.extend(details(request));
    annotations.insert(CERTIFICATE_NAME.to_owned(), json!(meta::name(certificate)));
    add(&mut secret["metadata"]["labels"], labels);
    add(&mut secret["metadata"]["annotations"], annotations);
    secret
}

fn add(into: &mut Value, more: Map<String, Value>) {
    for (key, value) in more {
        into[key] = value;
    }
}

/// What the annotations of a Secret tell of its certificate and its issuer.
/// Source: cert-manager 1.21 `internal/controller/certificates/secrets.go`.
fn details(request: &Request) -> Map<String, Value> {
    let list = |pick: fn(&Name) -> Option<String>| {
        let names: Vec<_> = request.names().iter().filter_map(pick).collect();
        names.join(",")
    };
    let dns = list(|name| if let Name::Dns(name) = name { Some(name.clone()) } else { None });
    let ips = list(|name| if let Name::Ip(ip) = name { Some(ip.to_string()) } else { None });
    let uris = list(|name| if let Name::Uri(uri) = name { Some(uri.clone()) } else { None });
    let emails = list(|name| if let Name::Email(email) = name { Some(email.clone()) } else { None });
    let issuer = &request.issuer_ref;
    let mut details: Vec<(&str, String)> = vec![
        ("cert-manager.io/common-name", request.common_name.clone()),
        ("cert-manager.io/alt-names", dns),
        ("cert-manager.io/ip-sans", ips),
        ("cert-manager.io/uri-sans", uris),
        (NAME, issuer.name.clone()),
        (KIND, issuer.kind.clone()),
        (ISSUER_GROUP, issuer.group.clone()),
    ];
    if !emails.is_empty() {
        details.push(("cert-manager.io/email-sans", emails));
    }
    details.extend(request.subject().filter_map(|(part, value)| {
        let key = match part {
            DnType::OrganizationName => "cert-manager.io/subject-organizations",
            DnType::OrganizationalUnitName => "cert-manager.io/subject-organizationalunits",
            DnType::CountryName => "cert-manager.io/subject-countries",
            DnType::StateOrProvinceName => "cert-manager.io/subject-provinces",
            DnType::LocalityName => "cert-manager.io/subject-localities",
            _ => return None,
        };
        Some((key, value.to_owned()))
    }));
    details.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect()
}

/// Says in the status of a Certificate what its Secret holds and whether that will do; returns when it is renewed.
fn describe(
    certificate: &mut Value,
    secret: Option<&Value>,
    request: &Request,
    trouble: Option<Verdict>,
    now: &str,
) -> Option<Timestamp> {
    let good = || Verdict::yes("Ready", "Certificate is up to date and has not expired");
    let verdict = trouble.filter(|trouble| trouble.reason != RENEWING).unwrap_or_else(good);
    set_condition(certificate, "Ready", &verdict, now);
    let held = secret.and_then(|secret| Certificate::read(&data(secret, "tls.crt")?));
    let status = conditions::status_mut(certificate);
    let Some(held) = held else {
        for field in ["notBefore", "notAfter", "renewalTime"] {
            status.remove(field);
        }
        return None;
    };
    let renewal = request.renewal(held.not_before, held.not_after);
    for (field, time) in
        [("notBefore", held.not_before), ("notAfter", held.not_after), ("renewalTime", renewal)]
    {
        status.insert(field.to_owned(), json!(Clock::print(time)));
    }
    Some(renewal)
}

fn place(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef::new(GROUP, "Certificate", namespace, name)
}
