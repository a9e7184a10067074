use std::{error::Error as StdError, sync::Arc};

use rustls::{
    CertificateError, DigitallySignedStruct, Error as TlsError, OtherError, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use super::UntrustedCertificate;
use crate::CaBundle;

/// A verifier with the decisions of another verifier. Its errors contain the certificates of the host.
#[derive(Debug)]
pub(super) struct ReportingVerifier {
    inner: Arc<dyn ServerCertVerifier>,
    trusted: Vec<CaBundle>,
    trusts_system: bool,
}

impl ReportingVerifier {
    pub(super) fn new(
        inner: Arc<dyn ServerCertVerifier>,
        trusted: Vec<CaBundle>,
        trusts_system: bool,
    ) -> Self {
        Self { inner, trusted, trusts_system }
    }
}

impl ServerCertVerifier for ReportingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let outcome =
            self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let Err(TlsError::InvalidCertificate(error)) = outcome else { return outcome };
        let shown: Vec<&[u8]> = std::iter::once(end_entity).chain(intermediates).map(AsRef::as_ref).collect();
        let reported = UntrustedCertificate::new(&error, &shown, server_name.to_str().into_owned())
            .with_trusted(self.trusted.clone(), self.trusts_system);
        Err(TlsError::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(reported)))))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Returns the untrusted certificate, if this error contains one.
pub(crate) fn untrusted_in<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e UntrustedCertificate> {
    match error.downcast_ref::<TlsError>()? {
        TlsError::InvalidCertificate(CertificateError::Other(OtherError(reported))) => {
            reported.downcast_ref()
        }
        _ => None,
    }
}
