//! age identities for X25519.

use std::collections::HashMap;
use std::io::Read as _;
use std::str::FromStr as _;

use age::armor::ArmoredReader;
use age::x25519::Identity;
use age::{DecryptError, Decryptor};
use zeroize::Zeroizing;

use super::{Attempt, MAX_DATA_KEY_BYTES, check_count};
use crate::KeyFileProblem;
use crate::tree::Secret;

/// Identities by their public keys.
#[derive(Default)]
pub(crate) struct AgeKeys(HashMap<String, Identity>);

impl AgeKeys {
    /// Adds the identities of a file. Empty lines and lines with `#` are ignored.
    pub(super) fn add(&mut self, content: &[u8]) -> Result<(), KeyFileProblem> {
        let text = str::from_utf8(content).map_err(|_| KeyFileProblem::NotText)?;
        for (index, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let identity = Identity::from_str(line).map_err(|_| KeyFileProblem::AgeIdentity(index + 1))?;
            self.0.insert(identity.to_public().to_string(), identity);
        }
        check_count(self.0.len())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Decrypts the data key that is encrypted for a public key.
    pub(crate) fn decrypt(&self, recipient: &str, enc: &str) -> Attempt<Secret> {
        let Some(identity) = self.0.get(recipient) else { return Attempt::NoKey };
        match read(identity, enc) {
            Ok(data_key) => Attempt::Decrypted(data_key),
            Err(_) => Attempt::Damaged,
        }
    }
}

fn read(identity: &Identity, enc: &str) -> Result<Secret, DecryptError> {
    let decryptor = Decryptor::new_buffered(ArmoredReader::new(enc.as_bytes()))?;
    let mut data_key = Zeroizing::new(Vec::with_capacity(MAX_DATA_KEY_BYTES));
    let reader = decryptor.decrypt(std::iter::once(identity as &dyn age::Identity))?;
    reader.take(MAX_DATA_KEY_BYTES as u64).read_to_end(&mut data_key)?;
    Ok(data_key)
}
