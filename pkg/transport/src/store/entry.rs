//! Which blob an address gave, and what the host said of it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Store, note_use, store_error, writer::write_whole};
use crate::{Digest, Error};

/// What is kept of one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// The address, and what was asked of it; never with a secret.
    pub(crate) key: String,
    /// Its content.
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_modified: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    /// The `Link` header, which leads to the next page of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    /// When the host last said that this is its content.
    pub(crate) kept_at: Timestamp,
}

impl Store {
    /// The entry of a key. One that cannot be read counts as none: it is written anew.
    /// # Errors
    /// When the store cannot be used.
    pub(crate) fn entry(&self, key: &str) -> Result<Option<Entry>, Error> {
        self.check()?;
        let path = self.entry_path(key);
        let found = read_entry(&path)?.filter(|entry| entry.key == key);
        if found.is_some() {
            note_use(&path);
        }
        Ok(found)
    }

    /// Writes an entry over the one there may be.
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn put_entry(&self, entry: &Entry) -> Result<(), Error> {
        self.prepare()?;
        let text = serde_json::to_vec(entry).map_err(|error| store_error(&self.entries(), error.into()))?;
        write_whole(&self.entry_path(&entry.key), &text)
    }

    /// Forgets a key.
    pub(crate) fn drop_entry(&self, key: &str) {
        // Where it cannot be removed it is found damaged once more.
        let _ = fs::remove_file(self.entry_path(key));
    }

    fn entry_path(&self, key: &str) -> PathBuf {
        self.entries().join(format!("{}.json", Digest::of(key.as_bytes()).hex()))
    }
}

/// Reads an entry file; none when it is gone, or no entry.
pub(super) fn read_entry(path: &Path) -> Result<Option<Entry>, Error> {
    match fs::read(path) {
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(store_error(path, error)),
    }
}
