//! Private keys that decrypt data keys.

mod age;
mod pgp;

use std::fmt;

use self::age::AgeKeys;
use self::pgp::PgpKeys;
use crate::{KeyFileProblem, SopsError};

/// The maximum length of a decrypted entry: a data key, or a share of it with its coordinate.
const MAX_DATA_KEY_BYTES: usize = 64;
/// The maximum number of keys of one kind.
const MAX_KEYS: usize = 1_000;

/// Private keys of age and PGP. They are cleared from memory when they are dropped.
#[derive(Default)]
pub struct DecryptionKeys {
    pub(crate) age: AgeKeys,
    pub(crate) pgp: PgpKeys,
}

impl DecryptionKeys {
    /// Reads the keys of named files, such as the entries of a Secret.
    ///
    /// A name that ends in `.agekey` is a file of age identities, one per line. A name that ends in `.asc` is a file of
    /// armored PGP private keys. Files with other names are ignored.
    ///
    /// # Errors
    /// `KeyFile` if a file has an invalid key, or no PGP private key.
    pub fn from_files<N: AsRef<str>, B: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Result<Self, SopsError> {
        let mut keys = Self::default();
        for (name, content) in files {
            let (name, content) = (name.as_ref(), content.as_ref());
            let added = match KeyKind::of(name) {
                Some(KeyKind::Age) => keys.age.add(content),
                Some(KeyKind::Pgp) => keys.pgp.add(content),
                None => continue,
            };
            added.map_err(|problem| SopsError::KeyFile { file: name.to_owned(), problem })?;
        }
        Ok(keys)
    }

    /// True if a file with this name has keys: its name ends in `.agekey` or `.asc`.
    pub fn is_key_file(name: &str) -> bool {
        KeyKind::of(name).is_some()
    }

    /// True if there is no key.
    pub fn is_empty(&self) -> bool {
        self.age.len() + self.pgp.len() == 0
    }
}

#[derive(Clone, Copy)]
enum KeyKind {
    Age,
    Pgp,
}

impl KeyKind {
    fn of(file_name: &str) -> Option<Self> {
        match file_name.rsplit_once('.')?.1 {
            "agekey" => Some(Self::Age),
            "asc" => Some(Self::Pgp),
            _ => None,
        }
    }
}

/// Shows the numbers of keys only.
impl fmt::Debug for DecryptionKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (age, pgp) = (self.age.len(), self.pgp.len());
        formatter.debug_struct("DecryptionKeys").field("age", &age).field("pgp", &pgp).finish()
    }
}

/// The result of an attempt to decrypt a data key.
pub(crate) enum Attempt<T> {
    Decrypted(T),
    /// No key matches the recipient.
    NoKey,
    /// A key matches the recipient, but the data key cannot be decrypted.
    Damaged,
}

fn check_count(count: usize) -> Result<(), KeyFileProblem> {
    if count > MAX_KEYS { Err(KeyFileProblem::TooMany(MAX_KEYS)) } else { Ok(()) }
}
