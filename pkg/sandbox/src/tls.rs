//! TLS client, for webhooks and for running sandboxes.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio_rustls::TlsConnector;

/// Creates a connector that trusts servers with certificates of these authorities.
pub(crate) fn connector(roots: RootCertStore) -> Result<TlsConnector, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
