//! Tells what is kept, and whether it is whole.

use std::{collections::BTreeMap, fs, io, io::Read as _, path::Path};

use url::Url;

use super::{
    Store,
    inventory::size_of_tree,
    prune::{READERS, remove},
    store_error,
};
use crate::{Digest, Digester, Error};

/// So much of a blob is read at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreSurvey {
    /// Bytes in all blobs; the limit is for these and for the folders of readers.
    pub size_bytes: u64,
    /// How many blobs there are.
    pub blobs: usize,
    /// What is kept of each host, by name.
    pub hosts: BTreeMap<String, HostShare>,
    /// Bytes in the folders of readers that keep more than files, by name.
    pub readers: BTreeMap<String, u64>,
    /// Bytes in temporary files.
    pub temporary_bytes: u64,
}

/// What is kept of one host. A blob that two hosts gave counts for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostShare {
    /// How many addresses.
    pub entries: usize,
    /// Bytes behind them.
    pub size_bytes: u64,
}

/// What came of a look at every byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Blobs that are as they should be.
    pub whole: usize,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// What was not, and was removed.
    pub broken: Vec<BrokenEntry>,
}

/// Something that was not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenEntry {
    /// The addresses it was kept for, else its file.
    pub kept_for: Vec<String>,
    /// What is wrong with it.
    pub why: String,
}

impl Store {
    /// Counts what is kept; nothing is read but names and sizes.
    /// # Errors
    /// When the store cannot be used, or listed.
    pub fn survey(&self) -> Result<StoreSurvey, Error> {
        let inventory = self.inventory()?;
        let mut survey = StoreSurvey {
            size_bytes: inventory.size_bytes(),
            blobs: inventory.kept.len(),
            temporary_bytes: inventory.temporaries.iter().map(|temporary| temporary.size_bytes).sum(),
            ..StoreSurvey::default()
        };
        for kept in &inventory.kept {
            for (_, entry) in &kept.entries {
                let share = survey.hosts.entry(host_of(&entry.key)).or_default();
                share.entries += 1;
                share.size_bytes += kept.size_bytes;
            }
        }
        for reader in READERS {
            let size_bytes = size_of_tree(&self.settings().folder.join(reader));
            if size_bytes > 0 {
                survey.readers.insert(reader.to_owned(), size_bytes);
            }
        }
        Ok(survey)
    }

    /// Reads every blob, and removes what is not as it should be.
    /// # Errors
    /// When the store cannot be used, or something in it neither be read nor removed.
    pub fn verify(&self) -> Result<Verified, Error> {
        let inventory = self.inventory()?;
        let mut verified = Verified::default();
        for kept in &inventory.kept {
            let Some((found, read_bytes)) = digest_of_file(&kept.path)? else { continue };
            verified.read_bytes += read_bytes;
            if found == kept.digest {
                verified.whole += 1;
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
            let why = format!("its content has the digest {found}, not {}", kept.digest);
            verified.broken.push(BrokenEntry { kept_for, why });
        }
        for path in &inventory.stray {
            remove(path)?;
            let why = "it cannot be read, or what it stands for is gone".to_owned();
            verified.broken.push(BrokenEntry { kept_for: vec![path.display().to_string()], why });
        }
        Ok(verified)
    }
}

/// The host of a key, which is an address and perhaps a media type; keys of other readers name themselves.
fn host_of(key: &str) -> String {
    let address = key.split(' ').next().unwrap_or_default();
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| address.to_owned())
}

/// The digest and the length of a file; none when it is gone.
fn digest_of_file(path: &Path) -> Result<Option<(Digest, u64)>, Error> {
    let failed = |error| store_error(path, error);
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let (mut digester, mut read_bytes, mut piece) = (Digester::default(), 0, vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(Some((digester.finish(), read_bytes))),
            read => {
                digester.update(&piece[..read]);
                read_bytes += read as u64;
            }
        }
    }
}
