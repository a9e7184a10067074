use std::fmt;

use rustls::CertificateError;
use x509_parser::{
    certificate::X509Certificate, extensions::GeneralName, prelude::FromDer as _, time::ASN1Time,
    x509::X509Name,
};

use crate::CaBundle;

/// The maximum number of certificates that are read. A real chain has two or three.
const MAX_CERTIFICATES: usize = 10;

/// An untrusted certificate, with the facts that explain the problem.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct UntrustedCertificate {
    /// The problem of the certificate chain.
    pub problem: CertificateProblem,
    /// The certificates of the host: its own certificate first, then the chain to the authority.
    pub chain: Vec<CertificateFacts>,
    /// Files with trusted certificates.
    pub trusted: Vec<CaBundle>,
    /// True if the system certificates were trusted as well.
    pub trusts_system: bool,
}

/// Facts from a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Subject, such as `CN=git.lab`.
    pub subject: String,
    /// The name of the issuer.
    pub issuer: String,
    /// First valid day, such as `2026-01-31`.
    pub valid_from: String,
    /// Last valid day.
    pub valid_until: String,
    /// Valid host names and addresses.
    pub names: Vec<String>,
}

/// The reason for an untrusted certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateProblem {
    /// The certificate has expired.
    Expired {
        /// Last valid day.
        since: String,
    },
    /// The certificate is not valid yet; usually the clock of this machine is wrong.
    NotYetValid {
        /// First valid day.
        from: String,
    },
    /// The authority that signed the certificate is not trusted.
    UnknownIssuer {
        /// Name of the authority.
        issuer: String,
    },
    /// The named authority is trusted, but the signature has another key; usually the authority was recreated.
    KeyMismatch {
        /// Name of the authority.
        issuer: String,
    },
    /// The certificate is self-signed.
    SelfSigned {
        /// Subject of the certificate.
        subject: String,
    },
    /// The certificate is for other hosts.
    NameMismatch {
        /// Requested host name.
        requested: String,
        /// Names in the certificate.
        names: Vec<String>,
    },
    /// Any other problem.
    Other {
        /// Message of the verifier.
        reason: String,
    },
}

impl fmt::Display for CertificateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { since } => write!(f, "its certificate expired on {since}"),
            Self::NotYetValid { from } => write!(f, "its certificate is not valid before {from}"),
            Self::UnknownIssuer { issuer } => {
                write!(f, "its certificate is signed by `{issuer}`, which is not trusted")
            }
            Self::KeyMismatch { issuer } => {
                write!(f, "its certificate is signed by another key of `{issuer}` than the trusted one")
            }
            Self::SelfSigned { subject } => {
                write!(f, "its certificate, `{subject}`, is self-signed and not trusted")
            }
            Self::NameMismatch { requested: server_name, names } if names.is_empty() => {
                write!(f, "its certificate names no host, so it does not match `{server_name}`")
            }
            Self::NameMismatch { requested: server_name, names } => {
                write!(f, "its certificate is for `{}`, not for `{server_name}`", names.join("`, `"))
            }
            Self::Other { reason } => write!(f, "its certificate was rejected: {reason}"),
        }
    }
}

impl UntrustedCertificate {
    /// Reads the certificates of a host in DER, its own certificate first.
    pub(super) fn new(error: &CertificateError, shown: &[&[u8]], server_name: String) -> Self {
        let chain: Vec<CertificateFacts> =
            shown.iter().take(MAX_CERTIFICATES).filter_map(|der| CertificateFacts::read(der)).collect();
        let problem = problem(error, &chain, server_name);
        Self { problem, chain, trusted: Vec::new(), trusts_system: false }
    }

    pub(super) fn with_trusted(self, trusted: Vec<CaBundle>, trusts_system: bool) -> Self {
        Self { trusted, trusts_system, ..self }
    }
}

fn problem(error: &CertificateError, chain: &[CertificateFacts], server_name: String) -> CertificateProblem {
    let other = || CertificateProblem::Other { reason: describe(error) };
    let Some(own) = chain.first() else { return other() };
    let issuer = chain.last().unwrap_or(own).issuer.clone();
    // The text order of the days is their order in time.
    let soonest = chain.iter().map(|facts| &facts.valid_until).min();
    let latest = chain.iter().map(|facts| &facts.valid_from).max();
    match (error, soonest, latest) {
        (CertificateError::Expired | CertificateError::ExpiredContext { .. }, Some(since), _) => {
            CertificateProblem::Expired { since: since.clone() }
        }
        (CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }, _, Some(from)) => {
            CertificateProblem::NotYetValid { from: from.clone() }
        }
        (CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }, ..) => {
            CertificateProblem::NameMismatch { requested: server_name, names: own.names.clone() }
        }
        (CertificateError::UnknownIssuer, ..) if chain.len() == 1 && own.subject == own.issuer => {
            CertificateProblem::SelfSigned { subject: own.subject.clone() }
        }
        (CertificateError::UnknownIssuer, ..) => CertificateProblem::UnknownIssuer { issuer },
        (CertificateError::BadSignature, ..) => CertificateProblem::KeyMismatch { issuer },
        _ => other(),
    }
}

/// Returns the message of the verifier, with a clearer text for the most common mistake.
fn describe(error: &CertificateError) -> String {
    let reason = error.to_string();
    if reason.contains("CaUsedAsEndEntity") {
        return "it is the certificate of an authority; a host needs one that an authority signed".to_owned();
    }
    reason
}

impl CertificateFacts {
    fn read(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let names = certificate.subject_alternative_name().ok().flatten();
        let names = names.into_iter().flat_map(|names| &names.value.general_names).filter_map(name);
        Some(Self {
            subject: name_text(certificate.subject()),
            issuer: name_text(certificate.issuer()),
            valid_from: day(certificate.validity().not_before),
            valid_until: day(certificate.validity().not_after),
            names: names.collect(),
        })
    }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(clean(name)),
        GeneralName::IPAddress(bytes) => match **bytes {
            [a, b, c, d] => Some(std::net::Ipv4Addr::new(a, b, c, d).to_string()),
            _ => <[u8; 16]>::try_from(*bytes).ok().map(|bytes| std::net::Ipv6Addr::from(bytes).to_string()),
        },
        _ => None,
    }
}

fn name_text(name: &X509Name<'_>) -> String {
    let text = clean(&name.to_string());
    if text.is_empty() { "nobody".to_owned() } else { text }
}

/// Removes control characters, because untrusted text is shown on a terminal.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn day(time: ASN1Time) -> String {
    time.to_datetime().date().to_string()
}
