use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio_rustls::TlsAcceptor;

pub(crate) struct Tls {
    pub(super) acceptor: TlsAcceptor,
    pub(crate) ca_pem: String,
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
}

/// Makes an authority nobody trusts yet and a certificate of it for the names, `localhost` and loopback.
pub(crate) fn make(names: &[&str]) -> Tls {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, "authority of a fake host");
    let key = KeyPair::generate().expect("a key can be made");
    let authority =
        CertifiedIssuer::self_signed(authority, key).expect("the parameters are good for an authority");

    let names: Vec<String> =
        ["localhost", "127.0.0.1"].iter().chain(names).map(|name| (*name).to_owned()).collect();
    let key = KeyPair::generate().expect("a key can be made");
    let leaf = CertificateParams::new(names).expect("the names are host names");
    let leaf = leaf.signed_by(&key, &authority).expect("the parameters are good for a server");
    let (certificate_pem, key_pem) = (leaf.pem(), key.serialize_pem());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .expect("key and certificate belong together");
    Tls { acceptor: TlsAcceptor::from(Arc::new(config)), ca_pem: authority.pem(), certificate_pem, key_pem }
}
