//! Certificates: authorities, self-signed ones, and signed ones.

use core::net::IpAddr;
use std::any::Any;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyUsagePurpose, SanType, SerialNumber,
};
use time::OffsetDateTime;

use super::super::Arguments as _;
use super::super::encoding::base64_decoded;
use super::super::table::{Result, Row};
use super::keys::{self, PrivateKey};
use super::rsa;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{List, Object, Shared, Value};

pub(super) const ROWS: &[Row] = &[
    ("genCA", "si", |run, args| authority(run, args, Key::New)),
    ("genCAWithKey", "sis", |run, args| authority(run, args, Key::Argument(2))),
    ("genSelfSignedCert", "slli", |run, args| self_signed(run, args, Key::New)),
    ("genSelfSignedCertWithKey", "sllis", |run, args| self_signed(run, args, Key::Argument(4))),
    ("genSignedCert", "sllic", |run, args| signed(run, args, Key::New)),
    ("genSignedCertWithKey", "sllics", |run, args| signed(run, args, Key::Argument(5))),
    ("buildCustomCert", "ss", build),
];

/// The origin of the key of a certificate.
#[derive(Clone, Copy)]
enum Key {
    New,
    /// PEM in an argument.
    Argument(usize),
}

/// A certificate with its key, both in PEM.
#[derive(Debug)]
struct Certificate {
    cert: String,
    key: String,
}

impl Certificate {
    fn value(cert: String, key: String) -> Value {
        Value::Object(Shared::new(Self { cert, key }))
    }
}

impl Object for Certificate {
    fn type_name(&self) -> &'static str {
        "sprig.certificate"
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(self.cert.as_str().into()),
            "Key" => Some(self.key.as_str().into()),
            _ => None,
        }
    }

    fn members(&self) -> Vec<(&str, Value)> {
        vec![("Cert", self.cert.as_str().into()), ("Key", self.key.as_str().into())]
    }

    fn plain(&self) -> Value {
        Value::map(self.members())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let other = other.as_any().downcast_ref::<Self>();
        other.is_some_and(|other| self.cert == other.cert && self.key == other.key)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the key of an argument, or a new RSA key of 2048 bits.
fn key_of(run: &mut dyn Engine, args: &[Value], key: Key) -> std::result::Result<PrivateKey, Fault> {
    match key {
        Key::New => {
            let pem = rsa::generate_2048(&mut run.session().random)?.pem();
            Ok(keys::parse(pem.as_bytes()).map_err(|error| format!("error generating rsa key: {error}"))?)
        }
        Key::Argument(index) => {
            Ok(keys::parse(args.text(index)).map_err(|error| format!("parsing private key: {error}"))?)
        }
    }
}

fn params(
    run: &mut dyn Engine,
    name: &str,
    ips: &List,
    names: &List,
    days: i64,
) -> std::result::Result<CertificateParams, Fault> {
    let mut params = CertificateParams::default();
    for ip in ips.iter() {
        let Value::String(text) = ip else {
            return Err(Fault::new(format!(
                "error parsing ip: {} is not a string",
                crate::format::display(ip)
            )));
        };
        let address: IpAddr =
            text.to_str().parse().map_err(|_| Fault::new(format!("error parsing ip: {}", text.to_str())))?;
        params.subject_alt_names.push(SanType::IpAddress(address));
    }
    for name in names.iter() {
        let Value::String(text) = name else {
            let shown = crate::format::display(name);
            return Err(Fault::new(format!("error processing alternate dns name: {shown} is not a string")));
        };
        let name = text.to_str().into_owned().try_into().map_err(failed)?;
        params.subject_alt_names.push(SanType::DnsName(name));
    }
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let mut serial = [0; 16];
    run.session().random.fill(&mut serial)?;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let now = run.session().settings().now.as_second();
    let far = |_| Fault::new("error creating certificate: the date is out of range");
    params.not_before = OffsetDateTime::from_unix_timestamp(now).map_err(far)?;
    let end = now.saturating_add(days.saturating_mul(24 * 3_600));
    params.not_after = OffsetDateTime::from_unix_timestamp(end).map_err(far)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.is_ca = IsCa::ExplicitNoCa;
    Ok(params)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn failed(error: rcgen::Error) -> Fault {
    Fault::new(format!("error creating certificate: {error}"))
}

fn authority(run: &mut dyn Engine, args: &[Value], key: Key) -> Result {
    let key = key_of(run, args, key)?;
    let none = List::nil(crate::value::Elem::Any);
    let mut params = params(run, &args.utf8(0), &none, &none, args.int(1))?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages.push(KeyUsagePurpose::KeyCertSign);
    let certificate = params.self_signed(&key.pair).map_err(failed)?;
    Ok(Certificate::value(keys::pem("CERTIFICATE", certificate.der()), key.pem))
}

fn self_signed(run: &mut dyn Engine, args: &[Value], key: Key) -> Result {
    let key = key_of(run, args, key)?;
    let params = params(run, &args.utf8(0), &args.list(1), &args.list(2), args.int(3))?;
    let certificate = params.self_signed(&key.pair).map_err(failed)?;
    Ok(Certificate::value(keys::pem("CERTIFICATE", certificate.der()), key.pem))
}

fn signed(run: &mut dyn Engine, args: &[Value], key: Key) -> Result {
    let key = key_of(run, args, key)?;
    let signer = args.value(4).clone();
    let signer = match &signer {
        Value::Object(object) => object.as_any().downcast_ref::<Certificate>(),
        _ => None,
    };
    let signer = signer.ok_or("unable to decode certificate")?;
    pem::parse(&signer.cert).map_err(|_| "unable to decode certificate")?;
    let signer_key =
        keys::parse(signer.key.as_bytes()).map_err(|error| format!("error parsing private key: {error}"))?;
    let issuer = Issuer::from_ca_cert_pem(&signer.cert, signer_key.pair)
        .map_err(|error| format!("error parsing certificate: decodedSignerCert.Bytes: {error}"))?;
    let mut params = params(run, &args.utf8(0), &args.list(1), &args.list(2), args.int(3))?;
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&key.pair, &issuer).map_err(failed)?;
    Ok(Certificate::value(keys::pem("CERTIFICATE", certificate.der()), key.pem))
}

/// Puts a certificate and a key together that the chart brings.
fn build(_: &mut dyn Engine, args: &[Value]) -> Result {
    let cert = base64_decoded(args.text(0)).map_err(|_| "unable to decode base64 certificate")?;
    let key = base64_decoded(args.text(1)).map_err(|_| "unable to decode base64 private key")?;
    let block = pem::parse(&cert).map_err(|_| "unable to decode certificate")?;
    x509_parser::parse_x509_certificate(block.contents())
        .map_err(|error| format!("error parsing certificate: decodedCert.Bytes: {error}"))?;
    keys::parse(&key).map_err(|error| format!("error parsing private key: {error}"))?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Certificate::value(text(cert), text(key)))
}
