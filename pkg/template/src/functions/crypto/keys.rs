//! Private keys in PEM: reading, and new keys on curves.

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use yasna::Tag;
use yasna::models::ObjectIdentifier;

use crate::random::Random;

const RSA: &[u64] = &[1, 2, 840, 113_549, 1, 1, 1];
const ELLIPTIC: &[u64] = &[1, 2, 840, 10_045, 2, 1];
const P256: &[u64] = &[1, 2, 840, 10_045, 3, 1, 7];
const ED25519: &[u64] = &[1, 3, 101, 112];

/// Encodes bytes as PEM with Go's line length.
pub(super) fn pem(tag: &str, der: &[u8]) -> String {
    let config = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    pem::encode_config(&pem::Pem::new(tag, der), config)
}

/// A private key in the form that signs, and in the form that the template sees.
pub(super) struct PrivateKey {
    pub(super) pair: KeyPair,
    pub(super) pem: String,
}

/// Reads a private key.
///
/// # Errors
/// Sprig's message.
pub(super) fn parse(text: &[u8]) -> Result<PrivateKey, String> {
    let block = pem::parse(text).map_err(|_| "no PEM data in input".to_owned())?;
    let der = block.contents();
    let (context, wrapped) = match block.tag() {
        "PRIVATE KEY" => ("decoding PEM as PKCS#8", der.to_vec()),
        "RSA PRIVATE KEY" => ("parsing RSA private key from PEM", wrap(RSA, None, der)),
        "EC PRIVATE KEY" => {
            let curve = curve(der).ok_or("parsing EC private key from PEM: the curve is unknown")?;
            ("parsing EC private key from PEM", wrap(ELLIPTIC, Some(&curve), der))
        }
        tag => match tag.strip_suffix(" PRIVATE KEY") {
            Some(kind) => return Err(format!("invalid private key type {kind}")),
            None => return Err(format!("no private key data in PEM block of type {tag}")),
        },
    };
    let pair = KeyPair::try_from(wrapped).map_err(|error| format!("{context}: {error}"))?;
    Ok(PrivateKey { pair, pem: pem(block.tag(), der) })
}

/// Puts a key of an algorithm into the form of PKCS#8.
fn wrap(algorithm: &[u64], curve: Option<&ObjectIdentifier>, der: &[u8]) -> Vec<u8> {
    yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            writer.next().write_u8(0);
            writer.next().write_sequence(|writer| {
                writer.next().write_oid(&ObjectIdentifier::from_slice(algorithm));
                match curve {
                    Some(curve) => writer.next().write_oid(curve),
                    None => writer.next().write_null(),
                }
            });
            writer.next().write_bytes(der);
        });
    })
}

/// Returns the curve that a key names.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method has too narrow a lifetime")]
fn curve(der: &[u8]) -> Option<ObjectIdentifier> {
    let read = |reader: yasna::BERReader<'_, '_>| {
        reader.read_sequence(|reader| {
            reader.next().read_u8()?;
            reader.next().read_bytes()?;
            let curve = reader.next().read_tagged(Tag::context(0), |reader| reader.read_oid())?;
            reader.read_optional(|reader| {
                reader.read_tagged(Tag::context(1), |reader| reader.read_bitvec_bytes().map(|_| ()))
            })?;
            Ok(curve)
        })
    };
    yasna::parse_der(der, read).ok()
}

/// Makes a key on the curve P-256.
pub(super) fn elliptic(random: &mut Random) -> Result<String, String> {
    if random.is_seeded() {
        // `ring` makes keys from the randomness of the system alone.
        let (secret, point) = super::curve::key(random)?;
        return Ok(elliptic_pem(&secret, &point));
    }
    let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| error.to_string())?;
    let (secret, point) = secret_of(pair.serialized_der()).ok_or("the new key cannot be read")?;
    Ok(elliptic_pem(&secret, &point))
}

/// Reads the secret and the public point of a key in the form of PKCS#8.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method has too narrow a lifetime")]
fn secret_of(der: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let inner = yasna::parse_der(der, |reader| {
        reader.read_sequence(|reader| {
            reader.next().read_u8()?;
            reader.next().read_sequence(|reader| {
                reader.next().read_oid()?;
                reader.next().read_oid()
            })?;
            reader.next().read_bytes()
        })
    });
    let read = |reader: yasna::BERReader<'_, '_>| {
        reader.read_sequence(|reader| {
            reader.next().read_u8()?;
            let secret = reader.next().read_bytes()?;
            let point = reader.next().read_tagged(Tag::context(1), |reader| reader.read_bitvec_bytes())?;
            Ok((secret, point.0))
        })
    };
    yasna::parse_der(&inner.ok()?, read).ok()
}

fn elliptic_pem(secret: &[u8], point: &[u8]) -> String {
    let der = yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            writer.next().write_u8(1);
            writer.next().write_bytes(secret);
            writer.next().write_tagged(Tag::context(0), |writer| {
                writer.write_oid(&ObjectIdentifier::from_slice(P256));
            });
            writer.next().write_tagged(Tag::context(1), |writer| {
                writer.write_bitvec_bytes(point, point.len() * 8);
            });
        });
    });
    pem("EC PRIVATE KEY", &der)
}

/// Makes an Ed25519 key.
pub(super) fn edwards(random: &mut Random) -> Result<String, String> {
    let mut secret = [0; 32];
    random.fill(&mut secret)?;
    let der = yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            writer.next().write_u8(0);
            writer.next().write_sequence(|writer| {
                writer.next().write_oid(&ObjectIdentifier::from_slice(ED25519));
            });
            writer.next().write_bytes(&yasna::construct_der(|writer| writer.write_bytes(&secret)));
        });
    });
    Ok(pem("PRIVATE KEY", &der))
}
