//! The data key of a file: 32 bytes, encrypted for each recipient, or split between groups of recipients.
//!
//! Source: sops v3.13 sops.go (`GetDataKeyWithKeyServices`).

use crate::cipher::KEY_BYTES;
use crate::keys::{Attempt, DecryptionKeys};
use crate::metadata::{Metadata, Recipient};
use crate::tree::Secret;
use crate::{SopsError, shamir};

/// The maximum length of the encrypted form of an entry. A PGP message for an RSA key of 16 kbit has 3 kB.
const MAX_ENTRY_BYTES: usize = 64 << 10;

/// Decrypts the data key with the first matching key of each group.
///
/// # Errors
/// `NoMatchingKey`, `UnsupportedKeys` or `TooFewGroups` if keys are missing. `DamagedDataKey` or `Shares` if the entries
/// are damaged.
pub(crate) fn decrypt(metadata: &Metadata, keys: &DecryptionKeys) -> Result<Secret, SopsError> {
    let groups = metadata.groups.iter().map(|group| decrypt_group(group, keys));
    let mut groups = groups.collect::<Result<Vec<_>, _>>()?;
    let count = groups.len();
    let mut parts: Vec<Secret> = groups.drain(..).flatten().collect();
    let key = match (count, parts.len()) {
        (_, 0) => return Err(no_key(metadata)),
        (1, _) => parts.swap_remove(0),
        (_, found) if found < metadata.threshold => {
            return Err(SopsError::TooFewGroups { found, needed: metadata.threshold });
        }
        _ => shamir::combine(&parts)?,
    };
    if key.len() == KEY_BYTES { Ok(key) } else { Err(SopsError::Shares("it has not 32 bytes")) }
}

/// Decrypts the part of a group; all recipients of a group have the same part.
fn decrypt_group(group: &[Recipient], keys: &DecryptionKeys) -> Result<Option<Secret>, SopsError> {
    let mut damaged = None;
    for recipient in group {
        let (name, enc) = match recipient {
            Recipient::Age { recipient, enc } => (recipient, enc),
            Recipient::Pgp { fingerprint, enc } => (fingerprint, enc),
            Recipient::Unsupported(_) => continue,
        };
        let attempt = match recipient {
            _ if enc.len() > MAX_ENTRY_BYTES => Attempt::Damaged,
            Recipient::Age { .. } => keys.age.decrypt(name, enc),
            _ => keys.pgp.decrypt(enc),
        };
        match attempt {
            Attempt::Decrypted(part) => return Ok(Some(part)),
            Attempt::NoKey => {}
            Attempt::Damaged => damaged = Some(SopsError::DamagedDataKey { recipient: name.clone() }),
        }
    }
    damaged.map_or(Ok(None), Err)
}

fn no_key(metadata: &Metadata) -> SopsError {
    const SHOWN: usize = 5;
    let (mut recipients, mut kinds) = (Vec::new(), Vec::new());
    for recipient in metadata.groups.iter().flatten() {
        match recipient {
            Recipient::Age { recipient, .. } => recipients.push(format!("`{recipient}`")),
            Recipient::Pgp { fingerprint, .. } => recipients.push(format!("`{fingerprint}`")),
            Recipient::Unsupported(kind) if kinds.contains(kind) => {}
            Recipient::Unsupported(kind) => kinds.push(*kind),
        }
    }
    if recipients.is_empty() {
        return SopsError::UnsupportedKeys { kinds };
    }
    if recipients.len() > SHOWN {
        let more = recipients.len() - SHOWN;
        recipients.truncate(SHOWN);
        recipients.push(format!("and {more} more"));
    }
    SopsError::NoMatchingKey { recipients }
}
