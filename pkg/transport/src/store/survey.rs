//! Counts and verifies the content of the store.

use std::{collections::BTreeMap, fs, io, path::Path};

use url::Url;

use super::{
    Store,
    inventory::size_of_tree,
    prune::{READER_FOLDERS, remove},
    store_error,
};
use crate::{Digest, Digester, Error};

/// Size of the content of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreSurvey {
    /// Size of all blobs in bytes. The size limit covers blobs and idle clones.
    pub size_bytes: u64,
    /// Number of blobs.
    pub blobs: usize,
    /// Content by host name.
    pub hosts: BTreeMap<String, HostUsage>,
    /// Size of the folders of readers that store more than files, in bytes, by folder name.
    pub readers: BTreeMap<String, u64>,
    /// Size of temporary files in bytes.
    pub temporary_bytes: u64,
}

/// Content from one host. A blob from two hosts counts for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostUsage {
    /// Number of entries.
    pub entries: usize,
    /// Size of their blobs in bytes.
    pub size_bytes: u64,
}

/// The result of a verification of all content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerificationReport {
    /// Number of intact blobs.
    pub intact: usize,
    /// Number of bytes that were read.
    pub read_bytes: u64,
    /// Damaged content, which was removed.
    pub damaged: Vec<DamagedEntry>,
}

/// Damaged content with its cache keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedEntry {
    /// The keys of the content; if they are unknown, its path.
    pub keys: Vec<String>,
    /// Description of the damage.
    pub reason: String,
}

impl Store {
    /// Counts the content of the store. Reads only entries, names and sizes.
    /// # Errors
    /// Fails if the store cannot be used or listed.
    pub fn survey(&self) -> Result<StoreSurvey, Error> {
        let inventory = self.inventory()?;
        let mut survey = StoreSurvey {
            size_bytes: inventory.size_bytes(),
            blobs: inventory.blobs.len(),
            temporary_bytes: inventory.temporaries.iter().map(|temporary| temporary.size_bytes).sum(),
            ..StoreSurvey::default()
        };
        for kept in &inventory.blobs {
            for (_, entry) in &kept.entries {
                let share = survey.hosts.entry(host_of(&entry.key)).or_default();
                share.entries += 1;
                share.size_bytes += kept.size_bytes;
            }
        }
        for reader in READER_FOLDERS {
            let size_bytes = size_of_tree(&self.settings().folder.join(reader));
            if size_bytes > 0 {
                survey.readers.insert(reader.to_owned(), size_bytes);
            }
        }
        Ok(survey)
    }

    /// Reads every blob and removes damaged content.
    /// # Errors
    /// Fails if the store cannot be used, or if content can neither be read nor removed.
    pub fn verify(&self) -> Result<VerificationReport, Error> {
        let inventory = self.inventory()?;
        let mut verified = VerificationReport::default();
        for kept in &inventory.blobs {
            let Some((found, read_bytes)) = digest_of_file(&kept.path)? else { continue };
            verified.read_bytes += read_bytes;
            if found == kept.digest {
                verified.intact += 1;
                continue;
            }
            for (entry, _) in &kept.entries {
                remove(entry)?;
            }
            remove(&kept.path)?;
            let mut kept_for: Vec<_> = kept.entries.iter().map(|(_, entry)| entry.key.clone()).collect();
            if kept_for.is_empty() {
                kept_for.push(kept.path.display().to_string());
            }
            let why = format!("its content has digest {found}, expected {}", kept.digest);
            verified.damaged.push(DamagedEntry { keys: kept_for, reason: why });
        }
        for path in &inventory.stray_entries {
            remove(path)?;
            let why = "it cannot be read, or its source no longer exists".to_owned();
            verified.damaged.push(DamagedEntry { keys: vec![path.display().to_string()], reason: why });
        }
        Ok(verified)
    }
}

/// Returns the host of a key. A key is an address, possibly with a media type; other keys count as their own host.
fn host_of(key: &str) -> String {
    let address = key.split(' ').next().unwrap_or_default();
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| address.to_owned())
}

/// Returns digest and size of a file. None if the file does not exist.
fn digest_of_file(path: &Path) -> Result<Option<(Digest, u64)>, Error> {
    let failed = |error| store_error(path, error);
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    Digester::read(file).map(Some).map_err(failed)
}
