//! Issuers and ClusterIssuers: ready when they can sign.

use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    CLUSTER_RESOURCES, GROUP, Verdict, data,
    request::Request,
    resource, secret, set_condition, timestamp,
    x509::{Authority, Issued, Unreadable},
};
use crate::{
    client::Client,
    controllers::{Controller, Next, ObjectRef},
    meta,
    status::Status,
    store::Change,
};

/// Tells whether issuers can sign.
#[derive(Debug)]
pub(super) struct Issuers;

impl Controller for Issuers {
    fn name(&self) -> &'static str {
        "cert-manager-issuers"
    }

    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        match resource(change) {
            (GROUP, "issuers") => vec![ObjectRef::new(GROUP, "Issuer", &key.namespace, &key.name)],
            (GROUP, "clusterissuers") => vec![ObjectRef::new(GROUP, "ClusterIssuer", "", &key.name)],
            ("", "secrets") => {
                let mut issuers = client.list(GROUP, "Issuer", Some(&key.namespace));
                if &*key.namespace == CLUSTER_RESOURCES {
                    issuers.extend(client.list(GROUP, "ClusterIssuer", None));
                }
                issuers.retain(|issuer| issuer["spec"]["ca"]["secretName"] == *key.name);
                issuers.iter().map(ObjectRef::of).collect()
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
            let verdict = match Signer::of(client, &live) {
                None => return Ok(Next::Wait),
                Some(Err(verdict)) => verdict,
                Some(Ok(Signer::Itself)) => Verdict::yes("IsReady", ""),
                Some(Ok(Signer::Authority(_))) => Verdict::yes("KeyPairVerified", "Signing CA verified"),
            };
            let mut new = live.clone();
            set_condition(&mut new, "Ready", &verdict, &client.now());
            if new["status"] != live["status"] {
                client.update_status(new).await?;
            }
            Ok(Next::Wait)
        })
    }
}

/// What an issuer signs with.
pub(super) enum Signer {
    /// With the key of what it signs.
    Itself,
    /// With that of a CA.
    Authority(Box<Authority>),
}

impl Signer {
    /// Reads what an issuer signs with; nothing for an issuer that is not played, and for one that cannot sign why.
    /// Source: cert-manager 1.21 `pkg/issuer/ca/setup.go`, `pkg/issuer/selfsigned/setup.go`.
    pub(super) fn of(client: &Client, issuer: &Value) -> Option<Result<Self, Verdict>> {
        let spec = &issuer["spec"];
        if spec["selfSigned"].is_object() {
            return Some(Ok(Self::Itself));
        }
        let name = spec["ca"]["secretName"].as_str()?;
        let namespace = match meta::namespace(issuer) {
            "" => CLUSTER_RESOURCES,
            namespace => namespace,
        };
        let authority = authority(secret(client, namespace, name).as_ref(), namespace, name);
        Some(authority.map(|authority| Self::Authority(Box::new(authority))))
    }

    /// Signs.
    pub(super) fn sign(&self, client: &Client, request: &Request) -> Result<Issued, rcgen::Error> {
        let now = timestamp(client);
        match self {
            Self::Itself => Issued::self_signed(request, now),
            Self::Authority(authority) => authority.sign(request, now),
        }
    }
}

fn authority(secret: Option<&Value>, namespace: &str, name: &str) -> Result<Authority, Verdict> {
    let no = |reason, why: &str| Verdict::no(reason, format!("Error getting keypair for CA issuer: {why}"));
    let Some(secret) = secret else {
        return Err(no("ErrGetKeyPair", &format!("secrets \"{name}\" not found")));
    };
    let part = |key| {
        let absent = || no("ErrGetKeyPair", &format!("no data for {key:?} in secret '{namespace}/{name}'"));
        data(secret, key).ok_or_else(absent)
    };
    let (chain, key) = (part("tls.crt")?, part("tls.key")?);
    let above = data(secret, "ca.crt").unwrap_or_default();
    Authority::read(&chain, &above, &key).map_err(|why| {
        let reason = match why {
            Unreadable::NotAuthority => "ErrInvalidKeyPair",
            Unreadable::Certificate | Unreadable::Key => "ErrGetKeyPair",
        };
        no(reason, &why.to_string())
    })
}
