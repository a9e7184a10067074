//! Public keys in the file format of cosign.

use std::path::{Path, PathBuf};

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls::pki_types::{SubjectPublicKeyInfoDer, pem::PemObject as _};
use transport::disk::read_limited;
use x509_parser::{prelude::FromDer as _, x509::SubjectPublicKeyInfo};

use super::OciError;
use crate::Error;

/// Object identifiers of key types. Source: RFC 5480, RFC 8410 and RFC 8017.
const EC: &str = "1.2.840.10045.2.1";
const P256: &str = "1.2.840.10045.3.1.7";
const P384: &str = "1.3.132.0.34";
const ED25519_KEY: &str = "1.3.101.112";
const RSA: &str = "1.2.840.113549.1.1.1";

/// A key that verifies signatures.
#[derive(Debug)]
pub(super) struct PublicKey {
    path: PathBuf,
    algorithm: &'static dyn VerificationAlgorithm,
    key: Vec<u8>,
}

impl PublicKey {
    /// Reads a PEM public key: ECDSA on P-256 or P-384, Ed25519, or RSA with at least 2048 bits.
    /// # Errors
    /// [`OciError::Key`]; [`Error::Read`].
    pub(super) fn read(path: &Path, limit_bytes: u64) -> Result<Self, Error> {
        let bytes = read_limited(path, limit_bytes)?;
        let bytes = bytes.ok_or_else(|| key_error(path, "the file does not exist"))?;
        Ok(Self::parse(path, &bytes)?)
    }

    fn parse(path: &Path, pem: &[u8]) -> Result<Self, OciError> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem)
            .map_err(|_| key_error(path, "it is not a PEM file with a `PUBLIC KEY`"))?;
        let (_, info) = SubjectPublicKeyInfo::from_der(&der)
            .map_err(|_| key_error(path, "its `PUBLIC KEY` is invalid"))?;
        let curve = info.algorithm.parameters.as_ref().and_then(|curve| curve.as_oid().ok());
        let curve = curve.map(|curve| curve.to_id_string());
        let algorithm: &'static dyn VerificationAlgorithm =
            match (info.algorithm.algorithm.to_id_string().as_str(), curve.as_deref()) {
                (EC, Some(P256)) => &ECDSA_P256_SHA256_ASN1,
                (EC, Some(P384)) => &ECDSA_P384_SHA384_ASN1,
                (ED25519_KEY, _) => &ED25519,
                (RSA, _) => &RSA_PKCS1_2048_8192_SHA256,
                _ => {
                    return Err(key_error(path, "the key is not ECDSA P-256, ECDSA P-384, Ed25519 or RSA"));
                }
            };
        let key = info.subject_public_key.data.into_owned();
        Ok(Self { path: path.to_owned(), algorithm, key })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if the signature of a text was made with this key.
    pub(super) fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(self.algorithm, &self.key).verify(text, signature).is_ok()
    }
}

fn key_error(path: &Path, reason: &'static str) -> OciError {
    OciError::Key { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_public_key_is_refused() {
        let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----\n";
        let broken = "-----BEGIN PUBLIC KEY-----\nMC4CAQ==\n-----END PUBLIC KEY-----\n";
        for text in ["", "ssh-ed25519 AAAA", private, broken] {
            assert!(PublicKey::parse(Path::new("cosign.pub"), text.as_bytes()).is_err(), "{text}");
        }
        assert!(PublicKey::read(Path::new("/nowhere/cosign.pub"), 100).is_err());
    }
}
