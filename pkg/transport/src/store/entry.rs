//! Entries: the blob of an address, and the headers of its response.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Store, record_use, store_error, writer::write_atomically};
use crate::{Digest, Error};

/// The cached response of one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// The address and the accepted media types; never contains a secret.
    pub(crate) key: String,
    /// Digest of the content.
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_modified: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    /// The `Link` header, which contains the next page of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    /// Time at which the host last confirmed this content.
    pub(crate) kept_at: Timestamp,
}

impl Store {
    /// Reads the entry of a key. None if the entry is missing or invalid; the next write replaces it.
    /// # Errors
    /// Fails if the store cannot be used.
    pub(crate) fn entry(&self, key: &str) -> Result<Option<Entry>, Error> {
        self.check()?;
        let path = self.entry_path(key);
        let found = read_entry(&path)?.filter(|entry| entry.key == key);
        if found.is_some() {
            record_use(&path);
        }
        Ok(found)
    }

    /// Writes an entry and replaces an existing one.
    /// # Errors
    /// Fails if the entry cannot be written.
    pub(crate) fn write_entry(&self, entry: &Entry) -> Result<(), Error> {
        self.prepare()?;
        let text = serde_json::to_vec(entry).map_err(|error| store_error(&self.entries(), error.into()))?;
        write_atomically(&self.entry_path(&entry.key), &text)
    }

    /// Removes the entry of a key.
    pub(crate) fn delete_entry(&self, key: &str) {
        // If the removal fails, the next read finds the same damage again.
        let _ = fs::remove_file(self.entry_path(key));
    }

    fn entry_path(&self, key: &str) -> PathBuf {
        self.entries().join(format!("{}.json", Digest::of(key.as_bytes()).hex()))
    }
}

/// Reads an entry file. None if the file is missing or invalid.
pub(super) fn read_entry(path: &Path) -> Result<Option<Entry>, Error> {
    match fs::read(path) {
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(store_error(path, error)),
    }
}
