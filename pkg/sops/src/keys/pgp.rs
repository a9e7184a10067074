//! OpenPGP private keys.

use std::io::Read as _;

use pgp::composed::{Message, PublicOrSecret, SignedSecretKey};
use pgp::errors::Error;
use pgp::types::{Password, SecretParams};
use zeroize::Zeroizing;

use super::{Attempt, MAX_DATA_KEY_BYTES, check_count};
use crate::KeyFileProblem;
use crate::tree::Secret;

const ARMOR_END: &str = "-----END PGP ";

/// Private keys with their subkeys.
#[derive(Default)]
pub(crate) struct PgpKeys(Vec<SignedSecretKey>);

impl PgpKeys {
    /// Adds the private keys of a file with one or several armored blocks. Public keys are ignored.
    pub(super) fn add(&mut self, content: &[u8]) -> Result<(), KeyFileProblem> {
        let text = str::from_utf8(content).map_err(|_| KeyFileProblem::NotText)?;
        let before = self.0.len();
        for block in blocks(text) {
            let (keys, _) = PublicOrSecret::from_armor_many(block.as_bytes())
                .map_err(|_| KeyFileProblem::DamagedPgpKey)?;
            for key in keys {
                match key.map_err(|_| KeyFileProblem::DamagedPgpKey)? {
                    PublicOrSecret::Secret(key) if is_protected(&key) => {
                        return Err(KeyFileProblem::Passphrase);
                    }
                    PublicOrSecret::Secret(key) => self.0.push(key),
                    PublicOrSecret::Public(_) => {}
                }
                check_count(self.0.len())?;
            }
        }
        if self.0.len() == before { Err(KeyFileProblem::NoPgpKey) } else { Ok(()) }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Decrypts the message with a data key.
    pub(crate) fn decrypt(&self, enc: &str) -> Attempt<Secret> {
        if self.0.is_empty() {
            return Attempt::NoKey;
        }
        match self.read(enc) {
            Ok(data_key) => Attempt::Decrypted(data_key),
            Err(Error::MissingKey) => Attempt::NoKey,
            Err(_) => Attempt::Damaged,
        }
    }

    fn read(&self, enc: &str) -> pgp::errors::Result<Secret> {
        let (message, _) = Message::from_armor(enc.as_bytes())?;
        let mut message = message.decrypt_with_keys(vec![&Password::empty()], self.0.iter().collect())?;
        if message.is_compressed() {
            message = message.decompress()?;
        }
        let mut data_key = Zeroizing::new(Vec::with_capacity(MAX_DATA_KEY_BYTES + 1));
        (&mut message).take(MAX_DATA_KEY_BYTES as u64 + 1).read_to_end(&mut data_key)?;
        Ok(data_key)
    }
}

/// Splits a file into its armored blocks.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find("-----BEGIN PGP ")?;
        let end = rest[start..].find(ARMOR_END).map_or(rest.len(), |at| start + at + ARMOR_END.len());
        let end = rest[end..].find('\n').map_or(rest.len(), |line| end + line + 1);
        let block = &rest[start..end];
        rest = &rest[end..];
        Some(block)
    })
}

fn is_protected(key: &SignedSecretKey) -> bool {
    let is_encrypted = |parameters: &SecretParams| matches!(parameters, SecretParams::Encrypted(_));
    is_encrypted(key.primary_key.secret_params())
        || key.secret_subkeys.iter().any(|subkey| is_encrypted(subkey.key.secret_params()))
}
