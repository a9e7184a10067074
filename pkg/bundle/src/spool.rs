//! A folder of blobs by digest, which collects the content of an archive.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tempfile::{NamedTempFile, TempDir};
use transport::{Digest, http::BodySink};

use crate::BundleError;

/// Blobs for an archive. Dropping the value removes the folder.
#[derive(Debug)]
pub(super) struct Spool {
    folder: TempDir,
    /// Sizes in bytes by digest.
    blobs: Mutex<BTreeMap<Digest, u64>>,
}

impl Spool {
    pub(super) fn create_in(folder: &Path) -> Result<Self, BundleError> {
        let made = tempfile::Builder::new().prefix(".capstan-bundle-").tempdir_in(folder);
        let folder = made.map_err(|source| BundleError::Write { path: folder.to_owned(), source })?;
        Ok(Self { folder, blobs: Mutex::default() })
    }

    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.lock().contains_key(digest)
    }

    /// Returns all blobs with their size in bytes, sorted by digest.
    pub(super) fn blobs(&self) -> BTreeMap<Digest, u64> {
        self.lock().clone()
    }

    pub(super) fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.path().join(digest.hex())
    }

    /// Adds content from memory.
    pub(super) fn add(&self, bytes: &[u8]) -> Result<Digest, BundleError> {
        let digest = Digest::of(bytes);
        let path = self.path(&digest);
        if !self.has(&digest) {
            fs::write(&path, bytes).map_err(|source| BundleError::Write { path, source })?;
            self.lock().insert(digest, bytes.len() as u64);
        }
        Ok(digest)
    }

    /// Creates a writer for a blob. The caller must verify that the content has this digest.
    pub(super) fn writer(&self, digest: Digest) -> SpoolWriter<'_> {
        SpoolWriter { spool: self, digest, open_file: None }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Digest, u64>> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A blob that is being written. An uncommitted blob is removed.
pub(super) struct SpoolWriter<'s> {
    spool: &'s Spool,
    digest: Digest,
    /// The file, and the number of bytes written so far.
    open_file: Option<(NamedTempFile, u64)>,
}

impl SpoolWriter<'_> {
    /// Adds the blob to the spool under its digest.
    pub(super) fn commit(mut self) -> Result<(), transport::Error> {
        if self.open_file.is_none() {
            self.begin()?;
        }
        let (file, size_bytes) = self.open_file.take().expect("it was started above");
        let path = self.spool.path(&self.digest);
        file.persist(&path).map_err(|failed| write_error(&path, failed.error))?;
        self.spool.lock().insert(self.digest, size_bytes);
        Ok(())
    }
}

impl BodySink for SpoolWriter<'_> {
    fn begin(&mut self) -> Result<(), transport::Error> {
        let folder = self.spool.folder.path();
        let file = NamedTempFile::new_in(folder).map_err(|source| write_error(folder, source))?;
        self.open_file = Some((file, 0));
        Ok(())
    }

    fn take(&mut self, piece: Bytes) -> Result<(), transport::Error> {
        if self.open_file.is_none() {
            self.begin()?;
        }
        let (file, size_bytes) = self.open_file.as_mut().expect("it was started above");
        *size_bytes += piece.len() as u64;
        file.write_all(&piece).map_err(|source| write_error(file.path(), source))
    }
}

fn write_error(path: &Path, source: std::io::Error) -> transport::Error {
    transport::Error::Write { path: path.to_owned(), source: Arc::new(source) }
}
