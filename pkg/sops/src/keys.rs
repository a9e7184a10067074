//! Private keys that decrypt data keys.

mod age;

use std::fmt;

use self::age::AgeKeys;
use crate::{KeyFileProblem, SopsError};

/// The maximum number of keys.
const MAX_KEYS: usize = 1_000;

/// Private keys of age. They are cleared from memory when they are dropped.
#[derive(Default)]
pub struct DecryptionKeys {
    pub(crate) age: AgeKeys,
}

impl DecryptionKeys {
    /// Reads the keys of named files, such as the entries of a Secret.
    ///
    /// A name that ends in `.agekey` is a file of age identities, one per line. Files with other names are ignored.
    ///
    /// # Errors
    /// `KeyFile` if a file has an invalid key.
    pub fn from_files<N: AsRef<str>, B: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Result<Self, SopsError> {
        let mut keys = Self::default();
        for (name, content) in files {
            let (name, content) = (name.as_ref(), content.as_ref());
            if !Self::is_key_file(name) {
                continue;
            }
            let added = keys.age.add(content);
            added.map_err(|problem| SopsError::KeyFile { file: name.to_owned(), problem })?;
        }
        Ok(keys)
    }

    /// True if a file with this name has keys: its name ends in `.agekey`.
    pub fn is_key_file(name: &str) -> bool {
        name.ends_with(".agekey")
    }

    /// True if there is no key.
    pub fn is_empty(&self) -> bool {
        self.age.len() == 0
    }
}

/// Shows the numbers of keys only.
impl fmt::Debug for DecryptionKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DecryptionKeys").field("age", &self.age.len()).finish()
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
