//! TLS: trusted certificates, client certificates, and facts about untrusted certificates.

mod certificate;
mod verifier;

use std::{fs, io, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

pub use certificate::{CertificateFacts, CertificateProblem, UntrustedCertificate};
pub(crate) use verifier::untrusted_in;

use crate::{CaBundle, ClientCertificate, Error, HostSettings, Settings, disk::read_error};

/// Application protocols inside TLS, preferred first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The host settings that affect TLS. Hosts with equal values share a client.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TlsIdentity {
    ca_bundle: Option<CaBundle>,
    client_certificate: Option<ClientCertificate>,
}

impl TlsIdentity {
    pub(crate) fn of(host: Option<&HostSettings>) -> Self {
        let Some(host) = host else { return Self::default() };
        Self { ca_bundle: host.ca_bundle.clone(), client_certificate: host.client_certificate.clone() }
    }
}

/// Creates the TLS configuration of a client. Reads the trusted certificates from disk, so clients are created on the
/// first request.
/// # Errors
/// [`Error::CaFile`], [`Error::ClientCertificate`] or [`Error::Read`], each with its file; [`Error::SystemRoots`] or
/// [`Error::Client`].
pub(crate) fn client_config(settings: &Settings, identity: &TlsIdentity) -> Result<ClientConfig, Error> {
    // If another part of the process has already installed a provider, that provider is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let provider = CryptoProvider::get_default()
        .map_or_else(|| Arc::new(rustls::crypto::ring::default_provider()), Arc::clone);
    let bundles: Vec<&CaBundle> = settings.ca_bundles.iter().chain(&identity.ca_bundle).collect();
    let mut roots = Vec::new();
    for bundle in &bundles {
        roots.extend(read_bundle(bundle)?);
    }
    for pem in &settings.extra_roots {
        roots.extend(certificates(pem).ok_or_else(|| client_error(InvalidRootCertificate))?);
    }
    let inner = verifier_for(settings, roots, &provider)?;
    let trusted = bundles.into_iter().cloned().collect();
    let verifier = verifier::ReportingVerifier::new(inner, trusted, settings.system_roots);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(client_error)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &identity.client_certificate {
        None => builder.with_no_client_auth(),
        Some(ours) => {
            let (chain, key) = read_client_certificate(ours)?;
            let unusable = |error: rustls::Error| Error::ClientCertificate {
                path: ours.certificate.clone(),
                problem: format!("it cannot be used with the key `{}`: {error}", ours.key.display()),
            };
            builder.with_client_auth_cert(chain, key).map_err(unusable)?
        }
    };
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}

/// A trusted certificate in [`Settings::extra_roots`] that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read an additional root certificate")]
struct InvalidRootCertificate;

fn client_error(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Client(Arc::new(error))
}

fn verifier_for(
    settings: &Settings,
    roots: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    if settings.system_roots {
        let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(roots, Arc::clone(provider));
        return Ok(Arc::new(verifier.map_err(|error| Error::SystemRoots(Arc::new(error)))?));
    }
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root).map_err(client_error)?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider)).build();
    Ok(verifier.map_err(client_error)?)
}

/// Reads the certificates of a bundle. Fails unless each certificate is usable as a trust anchor.
fn read_bundle(bundle: &CaBundle) -> Result<Vec<CertificateDer<'static>>, Error> {
    let unusable = || Error::CaFile { path: bundle.path.clone(), named_by: bundle.named_by.clone() };
    let found = certificates(&read(&bundle.path)?).ok_or_else(unusable)?;
    let mut store = RootCertStore::empty();
    let usable = !found.is_empty() && found.iter().all(|root| store.add(root.clone()).is_ok());
    if usable { Ok(found) } else { Err(unusable()) }
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().ok()
}

fn read_client_certificate(
    client: &ClientCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
    let refuse = |path: &Path, problem: &str| Error::ClientCertificate {
        path: path.to_owned(),
        problem: problem.to_owned(),
    };
    let chain = certificates(&read(&client.certificate)?).filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| refuse(&client.certificate, "it contains no PEM certificate"))?;
    let key = PrivateKeyDer::from_pem_slice(&read(&client.key)?)
        .map_err(|_| refuse(&client.key, "it contains no unencrypted PEM private key"))?;
    Ok((chain, key))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source: io::Error| read_error(path, source))
}
