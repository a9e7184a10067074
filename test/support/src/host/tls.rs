use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::WebPkiClientVerifier,
};
use tokio_rustls::TlsAcceptor;

/// The certificate of a host, and its requirement for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostCertificate {
    /// A valid certificate, issued by the authority.
    Valid,
    /// A certificate that expired at the end of 2020.
    Expired,
    /// A self-signed certificate.
    SelfSigned,
    /// A valid certificate. Clients must present a certificate of the same authority.
    ClientCertificateRequired,
}

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate.
    pub certificate_pem: String,
    /// The private key.
    pub key_pem: String,
}

/// The TLS setup of a host.
pub(crate) struct Tls {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) ca_pem: String,
    /// The certificate of the host.
    pub(crate) host: Identity,
    /// The certificate for clients.
    pub(crate) client: Identity,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("ca_pem", &self.ca_pem).finish_non_exhaustive()
    }
}

/// Creates an authority, trusted by no one, and a certificate for the names, `localhost` and loopback.
pub(crate) fn create(names: &[&str], manner: HostCertificate) -> Tls {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, "authority of a fake host");
    let authority =
        CertifiedIssuer::self_signed(authority, new_key()).expect("the parameters are good for an authority");
    let client_key = new_key();
    let client = CertificateParams::new(vec!["ann".to_owned()]).expect("the name is a host name");
    let client = client.signed_by(&client_key, &authority).expect("the parameters are good for a client");

    let names: Vec<String> =
        ["localhost", "127.0.0.1"].iter().chain(names).map(|name| (*name).to_owned()).collect();
    let key = new_key();
    let mut leaf = CertificateParams::new(names).expect("the names are host names");
    leaf.distinguished_name.push(DnType::CommonName, "a fake host");
    if manner == HostCertificate::Expired {
        leaf.not_after = date_time_ymd(2020, 12, 31);
    }
    let leaf = match manner {
        HostCertificate::SelfSigned => leaf.self_signed(&key),
        HostCertificate::Valid | HostCertificate::Expired | HostCertificate::ClientCertificateRequired => {
            leaf.signed_by(&key, &authority)
        }
    };
    let leaf = leaf.expect("the parameters are good for a server");
    Tls {
        acceptor: acceptor(
            leaf.der().clone(),
            &key,
            (manner == HostCertificate::ClientCertificateRequired).then(|| authority.der().clone()),
        ),
        ca_pem: authority.pem(),
        host: Identity { certificate_pem: leaf.pem(), key_pem: key.serialize_pem() },
        client: Identity { certificate_pem: client.pem(), key_pem: client_key.serialize_pem() },
    }
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("a key can be created")
}

fn acceptor(
    leaf: CertificateDer<'static>,
    key: &KeyPair,
    clients_of: Option<CertificateDer<'static>>,
) -> TlsAcceptor {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions");
    let builder = match clients_of {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority).expect("the authority is one");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("there is an authority to verify with"))
        }
    };
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = builder.with_single_cert(vec![leaf], key).expect("key and certificate belong together");
    TlsAcceptor::from(Arc::new(config))
}
