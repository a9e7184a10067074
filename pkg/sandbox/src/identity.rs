//! The identity of a listening sandbox: certificate authority, server certificate and the token of its only user, with
//! the kubeconfig and the TLS client for it.

use std::sync::Arc;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_rustls::TlsConnector;

/// The only user, as objects and reviews name it.
pub(crate) const USER: &str = "admin";
pub(crate) const USER_GROUPS: [&str; 2] = ["system:masters", "system:authenticated"];

/// The secrets of one listening sandbox. A sandbox that restarts with the same identity accepts existing kubeconfigs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Identity {
    /// The authority's certificate, PEM.
    ca_certificate: String,
    /// The authority's key, PEM.
    ca_key: String,
    /// The bearer token of the user.
    token: String,
}

/// A failure to create or use certificates.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("cannot use the sandbox's certificate authority")]
    Authority(#[source] rcgen::Error),
    #[error("cannot create the sandbox's server certificate")]
    Certificate(#[source] rcgen::Error),
    #[error("cannot use the sandbox's server certificate")]
    Tls(#[source] rustls::Error),
}

impl Identity {
    /// Creates a new identity.
    ///
    /// # Errors
    /// Fails if the system provides no randomness.
    pub fn generate() -> Result<Self, IdentityError> {
        let key = KeyPair::generate().map_err(IdentityError::Authority)?;
        let certificate = authority().self_signed(&key).map_err(IdentityError::Authority)?;
        let mut token = uuid::Uuid::new_v4().as_bytes().to_vec();
        token.extend_from_slice(uuid::Uuid::new_v4().as_bytes());
        Ok(Self {
            ca_certificate: certificate.pem(),
            ca_key: key.serialize_pem(),
            token: URL_SAFE_NO_PAD.encode(token),
        })
    }

    /// Returns the authority's certificate as PEM, for clients to trust.
    pub fn ca_certificate(&self) -> &str {
        &self.ca_certificate
    }

    /// Returns the authority's certificate for clients in this process. A damaged certificate yields an empty one, with
    /// which clients trust no server.
    pub(crate) fn authority_der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.ca_certificate.as_bytes())
            .unwrap_or_else(|_| CertificateDer::from(Vec::new()))
    }

    /// Returns the bearer token of the user.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns the TLS configuration of a listener: a new certificate for loopback addresses, HTTP/2 preferred over
    /// HTTP/1.1.
    pub(crate) fn server_config(&self) -> Result<Arc<ServerConfig>, IdentityError> {
        let ca_key = KeyPair::from_pem(&self.ca_key).map_err(IdentityError::Authority)?;
        let issuer = Issuer::new(authority(), ca_key);
        let key = KeyPair::generate().map_err(IdentityError::Certificate)?;
        let certificate = server_params()
            .and_then(|params| params.signed_by(&key, &issuer))
            .map_err(IdentityError::Certificate)?;
        let private_key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(IdentityError::Tls)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private_key)
            .map_err(IdentityError::Tls)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Omits the key and the token.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "capstan-sandbox-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn server_params() -> Result<CertificateParams, rcgen::Error> {
    let names =
        ["localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
    let mut params = CertificateParams::new(names.map(str::to_owned))?;
    params.distinguished_name.push(DnType::CommonName, "capstan-sandbox");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// Returns a kubeconfig with one context, named like the sandbox. The output is JSON, which every kubeconfig reader
/// accepts as YAML. `server` is the URL, such as `https://127.0.0.1:40000`.
pub fn kubeconfig(name: &str, server: &str, identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{
            "name": name,
            "cluster": {
                "server": server,
                "certificate-authority-data": STANDARD.encode(identity.ca_certificate()),
            },
        }],
        "users": [{"name": name, "user": {"token": identity.token()}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    })
}

/// Creates a connector that trusts servers with certificates of these authorities.
pub(crate) fn connector(roots: RootCertStore) -> Result<TlsConnector, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_identity_is_usable_again() {
        let identity = Identity::generate().unwrap();
        let kept: Identity = serde_json::from_str(&serde_json::to_string(&identity).unwrap()).unwrap();
        assert_eq!(kept, identity);
        kept.server_config().unwrap();
    }

    #[test]
    fn two_identities_share_no_token_and_show_none() {
        let (one, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        assert_ne!(one.token(), other.token());
        assert!(one.token().len() >= 40);
        assert!(!format!("{one:?}").contains(one.token()));
    }

    #[test]
    fn a_damaged_key_is_an_error() {
        let mut identity = Identity::generate().unwrap();
        identity.ca_key.truncate(60);
        assert!(matches!(identity.server_config(), Err(IdentityError::Authority(_))));
    }
}
