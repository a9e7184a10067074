//! Atomic writes.

use std::{fmt, io::Write as _, path::Path};

use bytes::Bytes;
use tempfile::NamedTempFile;

use super::{Store, TEMPORARY_PREFIX, store_error};
use crate::{Digest, Digester, Error, disk, http::BodySink};

/// Writes a blob piece by piece and computes its digest. An uncommitted blob is removed.
pub struct BlobWriter {
    store: Store,
    started: Option<OpenBlob>,
}

struct OpenBlob {
    file: NamedTempFile,
    digester: Digester,
    size_bytes: u64,
}

impl BlobWriter {
    pub(super) fn new(store: Store) -> Self {
        Self { store, started: None }
    }

    /// Adds the blob to the store under its digest.
    /// # Errors
    /// [`Error::Store`].
    pub fn commit(mut self) -> Result<Digest, Error> {
        if self.started.is_none() {
            // An empty response is valid content.
            self.begin()?;
        }
        let Self { store, started } = self;
        let OpenBlob { file, digester, size_bytes } = started.expect("it was started above");
        let found = digester.finish();
        let path = store.blob_path(&found);
        persist_at(file, &path)?;
        store.count_written(size_bytes);
        Ok(found)
    }
}

impl BodySink for BlobWriter {
    fn begin(&mut self) -> Result<(), Error> {
        self.store.prepare()?;
        let file = temporary_in(&self.store.blobs())?;
        self.started = Some(OpenBlob { file, digester: Digester::default(), size_bytes: 0 });
        Ok(())
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        if self.started.is_none() {
            self.begin()?;
        }
        let started = self.started.as_mut().expect("it was started above");
        started.digester.update(&piece);
        started.size_bytes += piece.len() as u64;
        started.file.write_all(&piece).map_err(|error| store_error(started.file.path(), error))
    }
}

impl fmt::Debug for BlobWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobWriter").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Writes a small file atomically and replaces an existing one.
/// # Errors
/// [`Error::Store`].
pub(super) fn write_atomically(path: &Path, content: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let mut file = temporary_in(folder)?;
    file.write_all(content).map_err(|error| store_error(path, error))?;
    persist_at(file, path)
}

/// Creates a temporary file that only its owner may read. Dropping the value removes the file.
fn temporary_in(folder: &Path) -> Result<NamedTempFile, Error> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .tempfile_in(folder)
        .map_err(|error| store_error(folder, error))
}

fn persist_at(file: NamedTempFile, path: &Path) -> Result<(), Error> {
    disk::persist(file, path).map(drop).map_err(|error| store_error(path, error))
}
