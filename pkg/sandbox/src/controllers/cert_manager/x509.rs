//! Certificates: signed, and read again.

use std::net::IpAddr;

use jiff::Timestamp;
use rcgen::{Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::{
    certificate::X509Certificate, extensions::GeneralName, prelude::FromDer as _, x509::X509Name,
};

use super::request::{Name, Request};

/// What a Secret holds of a certificate that was issued, PEM.
#[derive(Clone)]
pub(super) struct Issued {
    /// The certificate and, after it, those between it and the root.
    pub(super) certificate: String,
    pub(super) key: String,
    /// The highest certificate above it.
    pub(super) ca: String,
}

/// A certificate and its key that sign others.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate and those above.
    chain: Vec<Certificate>,
}

/// A certificate that was read.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    pem: String,
    common_name: String,
    /// The first one.
    organization: String,
    names: Vec<Name>,
    pub(super) is_ca: bool,
    /// Its subject is its issuer.
    is_root: bool,
    pub(super) not_before: Timestamp,
    pub(super) not_after: Timestamp,
    public_key: Vec<u8>,
}

/// Why a Secret's content is no authority.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("error decoding certificate PEM block")]
    Certificate,
    #[error("error decoding private key PEM block")]
    Key,
    #[error("certificate is not a CA")]
    NotAuthority,
}

impl Issued {
    /// Signs a certificate with its own key.
    pub(super) fn self_signed(request: &Request, now: Timestamp) -> Result<Self, rcgen::Error> {
        let key = request.key()?;
        let certificate = request.params(now)?.self_signed(&key)?.pem();
        Ok(Self { ca: certificate.clone(), certificate, key: key.serialize_pem() })
    }
}

impl Authority {
    /// Reads the content of a Secret: the chain from the CA's certificate upwards, what is above the chain, the key.
    pub(super) fn read(chain: &str, above: &str, key: &str) -> Result<Self, Unreadable> {
        let mut certificates = read_chain(chain).ok_or(Unreadable::Certificate)?;
        let first = certificates.first().ok_or(Unreadable::Certificate)?;
        let key = KeyPair::from_pem(key).map_err(|_| Unreadable::Key)?;
        if !first.is_ca {
            return Err(Unreadable::NotAuthority);
        }
        let issuer = Issuer::from_ca_cert_pem(&first.pem, key).map_err(|_| Unreadable::Certificate)?;
        for certificate in read_chain(above).ok_or(Unreadable::Certificate)? {
            if certificates.iter().all(|known| known.pem != certificate.pem) {
                certificates.push(certificate);
            }
        }
        Ok(Self { issuer, chain: certificates })
    }

    /// Signs a certificate with a key of its own. A root is left out of its chain: who trusts it has it.
    pub(super) fn sign(&self, request: &Request, now: Timestamp) -> Result<Issued, rcgen::Error> {
        let key = request.key()?;
        let mut params = request.params(now)?;
        params.use_authority_key_identifier_extension = true;
        let mut certificate = params.signed_by(&key, &self.issuer)?.pem();
        certificate.extend(self.chain.iter().filter(|above| !above.is_root).map(|above| &*above.pem));
        let ca = self.chain.last().map(|highest| highest.pem.clone()).unwrap_or_default();
        Ok(Issued { certificate, key: key.serialize_pem(), ca })
    }
}

impl Certificate {
    /// Reads the first certificate of a chain.
    pub(super) fn read(chain: &str) -> Option<Self> {
        let mut certificates = read_chain(chain)?;
        if certificates.is_empty() { None } else { Some(certificates.swap_remove(0)) }
    }

    /// Whether this is the key its holder signs with.
    pub(super) fn belongs_to(&self, key: &KeyPair) -> bool {
        use rcgen::PublicKeyData as _;
        self.public_key == key.der_bytes()
    }

    /// Whether it says what is asked for.
    pub(super) fn answers(&self, request: &Request) -> bool {
        let sorted = |mut names: Vec<Name>| {
            names.sort();
            names.dedup();
            names
        };
        let organization = request.subject.organizations.first().map(String::as_str).unwrap_or_default();
        self.common_name == request.common_name
            && self.organization == organization
            && self.is_ca == request.is_ca
            && sorted(self.names.clone()) == sorted(request.names())
    }

    fn parse(pem: String) -> Option<Self> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
        let (_, certificate) = X509Certificate::from_der(&der).ok()?;
        let alternatives = certificate.subject_alternative_name().ok()?;
        let names = alternatives.map(|names| names.value.general_names.iter().filter_map(name).collect());
        let time = |time: x509_parser::time::ASN1Time| Timestamp::from_second(time.timestamp()).ok();
        Some(Self {
            common_name: first(certificate.subject().iter_common_name()),
            organization: first(certificate.subject().iter_organization()),
            names: names.unwrap_or_default(),
            is_ca: certificate.is_ca(),
            is_root: same(certificate.subject(), certificate.issuer()),
            not_before: time(certificate.validity().not_before)?,
            not_after: time(certificate.validity().not_after)?,
            public_key: certificate.public_key().subject_public_key.data.to_vec(),
            pem,
        })
    }
}

/// Reads all certificates of a text; nothing when one of them is none.
fn read_chain(text: &str) -> Option<Vec<Certificate>> {
    const END: &str = "-----END CERTIFICATE-----";
    let blocks = text.split_inclusive(END).filter(|block| block.contains(END));
    blocks.map(|block| Certificate::parse(format!("{}\n", block.trim()))).collect()
}

fn first<'a>(mut values: impl Iterator<Item = &'a x509_parser::x509::AttributeTypeAndValue<'a>>) -> String {
    values.next().and_then(|value| value.as_str().ok()).unwrap_or_default().to_owned()
}

fn same(one: &X509Name<'_>, other: &X509Name<'_>) -> bool {
    one.as_raw() == other.as_raw()
}

fn name(name: &GeneralName<'_>) -> Option<Name> {
    Some(match name {
        GeneralName::DNSName(name) => Name::Dns((*name).to_owned()),
        GeneralName::URI(uri) => Name::Uri((*uri).to_owned()),
        GeneralName::RFC822Name(email) => Name::Email((*email).to_owned()),
        GeneralName::IPAddress(bytes) => Name::Ip(match bytes.len() {
            4 => IpAddr::from(<[u8; 4]>::try_from(*bytes).ok()?),
            _ => IpAddr::from(<[u8; 16]>::try_from(*bytes).ok()?),
        }),
        _ => return None,
    })
}
