//! What a Certificate asks for.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, SanType, date_time_ymd,
};
use serde::Deserialize;

/// How long a certificate lives when it does not say.
const LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// cert-manager's webhook refuses shorter lives.
const SHORTEST_LIFETIME: SignedDuration = SignedDuration::from_hours(1);

/// The spec of a Certificate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Request {
    pub(super) secret_name: String,
    pub(super) issuer_ref: IssuerRef,
    pub(super) common_name: String,
    pub(super) subject: Subject,
    pub(super) dns_names: Vec<String>,
    pub(super) ip_addresses: Vec<String>,
    pub(super) uris: Vec<String>,
    pub(super) email_addresses: Vec<String>,
    #[serde(rename = "isCA")]
    pub(super) is_ca: bool,
    pub(super) usages: Vec<String>,
    /// As Go prints durations, `2160h0m0s`.
    pub(super) duration: Option<String>,
    pub(super) renew_before: Option<String>,
    pub(super) private_key: PrivateKey,
    pub(super) secret_template: SecretTemplate,
}

/// Who is to sign.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IssuerRef {
    pub(super) name: String,
    /// Empty for `Issuer`.
    pub(super) kind: String,
    /// Empty for cert-manager's own.
    pub(super) group: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Subject {
    pub(super) organizations: Vec<String>,
    organizational_units: Vec<String>,
    countries: Vec<String>,
    provinces: Vec<String>,
    localities: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PrivateKey {
    pub(super) algorithm: String,
    pub(super) size: u32,
}

/// Metadata its Secret is to have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SecretTemplate {
    pub(super) labels: serde_json::Map<String, serde_json::Value>,
    pub(super) annotations: serde_json::Map<String, serde_json::Value>,
}

/// A name a certificate is good for beside its subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    Dns(String),
    Ip(IpAddr),
    Uri(String),
    Email(String),
}

impl IssuerRef {
    pub(super) fn kind(&self) -> &str {
        if self.kind.is_empty() { "Issuer" } else { &self.kind }
    }

    pub(super) fn group(&self) -> &str {
        if self.group.is_empty() { super::GROUP } else { &self.group }
    }
}

impl Request {
    /// The alternative names. What is no address is left away, as cert-manager's webhook refuses it.
    pub(super) fn names(&self) -> Vec<Name> {
        let dns = self.dns_names.iter().cloned().map(Name::Dns);
        let ips = self.ip_addresses.iter().filter_map(|ip| ip.parse().ok()).map(Name::Ip);
        let uris = self.uris.iter().cloned().map(Name::Uri);
        let emails = self.email_addresses.iter().cloned().map(Name::Email);
        dns.chain(ips).chain(uris).chain(emails).collect()
    }

    /// The parts of the subject that are set, first values only.
    pub(super) fn subject(&self) -> impl Iterator<Item = (DnType, &str)> {
        let Subject { organizations, organizational_units, countries, provinces, localities } = &self.subject;
        let several = [
            (DnType::CountryName, countries),
            (DnType::OrganizationName, organizations),
            (DnType::OrganizationalUnitName, organizational_units),
            (DnType::LocalityName, localities),
            (DnType::StateOrProvinceName, provinces),
        ];
        let common_name = (!self.common_name.is_empty()).then_some((DnType::CommonName, &*self.common_name));
        let several = several.into_iter().filter_map(|(part, values)| Some((part, &**values.first()?)));
        several.chain(common_name)
    }

    /// How long before its end it is renewed; a third of its life if that is not said or makes no sense.
    /// Source: cert-manager 1.21 `pkg/util/pki` (`RenewalTime`).
    pub(super) fn renewal(&self, not_before: Timestamp, not_after: Timestamp) -> Timestamp {
        let life = not_after.duration_since(not_before);
        let asked = self.renew_before.as_deref().and_then(duration);
        let before = asked.filter(|asked| asked.is_positive() && *asked < life).unwrap_or_else(|| life / 3);
        let renewal = not_after.saturating_sub(before).unwrap_or(not_after);
        Timestamp::from_second(renewal.as_second()).unwrap_or(renewal)
    }

    /// A new key of the kind that is asked for, as far as it can be made.
    pub(super) fn key(&self) -> Result<KeyPair, rcgen::Error> {
        KeyPair::generate_for(match (&*self.private_key.algorithm, self.private_key.size) {
            ("Ed25519", _) => &PKCS_ED25519,
            ("ECDSA", 384) => &PKCS_ECDSA_P384_SHA384,
            _ => &PKCS_ECDSA_P256_SHA256,
        })
    }

    /// What is to be signed, valid from now on.
    pub(super) fn params(&self, now: Timestamp) -> Result<CertificateParams, rcgen::Error> {
        let life = self.duration.as_deref().and_then(duration).unwrap_or(LIFETIME).max(SHORTEST_LIFETIME);
        let end = now.saturating_add(life).unwrap_or(Timestamp::MAX);
        let mut params = CertificateParams::default();
        let moment = |at: Timestamp| {
            date_time_ymd(1970, 1, 1) + at.duration_since(Timestamp::UNIX_EPOCH).unsigned_abs()
        };
        (params.not_before, params.not_after) = (moment(now), moment(end));
        params.distinguished_name = DistinguishedName::new();
        for (part, value) in self.subject() {
            params.distinguished_name.push(part, value);
        }
        params.subject_alt_names = self.names().into_iter().map(alternative).collect::<Result<_, _>>()?;
        params.is_ca =
            if self.is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::ExplicitNoCa };
        (params.key_usages, params.extended_key_usages) = self.usages();
        Ok(params)
    }

    /// The usages, or those cert-manager takes when none are named.
    fn usages(&self) -> (Vec<KeyUsagePurpose>, Vec<ExtendedKeyUsagePurpose>) {
        let mut key: Vec<_> = self.usages.iter().filter_map(|usage| key_usage(usage)).collect();
        let extended = self.usages.iter().filter_map(|usage| extended_usage(usage)).collect();
        if self.usages.is_empty() {
            key = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        }
        if self.is_ca && !key.contains(&KeyUsagePurpose::KeyCertSign) {
            key.push(KeyUsagePurpose::KeyCertSign);
        }
        (key, extended)
    }
}

fn duration(text: &str) -> Option<SignedDuration> {
    text.parse().ok()
}

fn alternative(name: Name) -> Result<SanType, rcgen::Error> {
    Ok(match name {
        Name::Dns(name) => SanType::DnsName(name.try_into()?),
        Name::Ip(ip) => SanType::IpAddress(ip),
        Name::Uri(uri) => SanType::URI(uri.try_into()?),
        Name::Email(email) => SanType::Rfc822Name(email.try_into()?),
    })
}

/// Source: cert-manager 1.21 `pkg/apis/certmanager/v1` (`KeyUsage`).
fn key_usage(name: &str) -> Option<KeyUsagePurpose> {
    Some(match name {
        "signing" | "digital signature" => KeyUsagePurpose::DigitalSignature,
        "content commitment" => KeyUsagePurpose::ContentCommitment,
        "key encipherment" => KeyUsagePurpose::KeyEncipherment,
        "key agreement" => KeyUsagePurpose::KeyAgreement,
        "data encipherment" => KeyUsagePurpose::DataEncipherment,
        "cert sign" => KeyUsagePurpose::KeyCertSign,
        "crl sign" => KeyUsagePurpose::CrlSign,
        "encipher only" => KeyUsagePurpose::EncipherOnly,
        "decipher only" => KeyUsagePurpose::DecipherOnly,
        _ => return None,
    })
}

/// See `key_usage`; those of IPsec and of old browsers are left away.
fn extended_usage(name: &str) -> Option<ExtendedKeyUsagePurpose> {
    Some(match name {
        "any" => ExtendedKeyUsagePurpose::Any,
        "server auth" => ExtendedKeyUsagePurpose::ServerAuth,
        "client auth" => ExtendedKeyUsagePurpose::ClientAuth,
        "code signing" => ExtendedKeyUsagePurpose::CodeSigning,
        "email protection" | "s/mime" => ExtendedKeyUsagePurpose::EmailProtection,
        "timestamping" => ExtendedKeyUsagePurpose::TimeStamping,
        "ocsp signing" => ExtendedKeyUsagePurpose::OcspSigning,
        _ => return None,
    })
}
