//! Cached content on disk, stored by digest and shared by all runs of a user.
//!
//! ```text
//! capstan-cache            version of this layout
//! blobs/sha256/<hex>       content, as in an OCI layout
//! entries/<hex>.json       an address and its blob; the name is the digest of the key
//! locks/<hex>              held while an address is fetched
//! <name>/                  a folder of a reader that stores more than files, such as Git
//! ```
//!
//! - A blob is never partially visible: it is written to a temporary file, synced and renamed. A killed process leaves
//!   at most a temporary file, which pruning removes after a day.
//! - Each read of a blob verifies its digest and removes a damaged blob.
//! - Locks are file locks of the operating system, so the end of a process releases its locks.
//! - A missing, full or read-only cache is never a reason to fail: callers continue without the cache.

mod clones;
mod entry;
mod inventory;
mod lock;
mod named;
mod prune;
mod survey;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;

pub use clones::{CREATION_PREFIX, hold_clone, is_clone, lock_file};
pub(crate) use entry::Entry;
pub use lock::KeyLock;
pub use prune::{PrunePolicy, PruneReport};
pub use survey::{DamagedEntry, HostUsage, StoreSurvey, VerificationReport};
pub use writer::BlobWriter;

use crate::{Digest, Error, EventSink, disk::read_limited};

/// The supported layout version.
const LAYOUT: u32 = 1;
/// The file that contains the layout version.
const LAYOUT_FILE: &str = "capstan-cache";
/// The name prefix of temporary files.
const TEMPORARY_PREFIX: &str = ".new-";
/// The minimum interval between two updates of a modification time, which records the last use. Reads should rarely
/// write.
const USE_RECORD_INTERVAL: Duration = Duration::from_hours(1);

/// Location and size limit of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// The folder, created on the first write.
    pub folder: PathBuf,
    /// The size limit. Above the limit, the least recently used content is removed.
    pub max_bytes: u64,
}

impl StoreSettings {
    /// The default size limit: 1 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;
}

/// Cached files by digest and address. Cheap to clone. The disk is not accessed until the first read or write.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    settings: StoreSettings,
    events: Option<EventSink>,
    readable: OnceLock<Result<(), Error>>,
    writable: OnceLock<Result<(), Error>>,
    /// Size of all blobs and idle clones: counted once, then increased by the writes of this process.
    size_bytes: OnceLock<AtomicU64>,
}

impl Store {
    /// Creates a store without disk access.
    pub fn new(settings: StoreSettings, events: Option<EventSink>) -> Self {
        Self {
            shared: Arc::new(Shared {
                settings,
                events,
                readable: OnceLock::new(),
                writable: OnceLock::new(),
                size_bytes: OnceLock::new(),
            }),
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &StoreSettings {
        &self.shared.settings
    }

    /// Returns the path of a blob, even if it does not exist. Callers that read the file must verify its digest.
    pub fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.blobs().join(digest.hex())
    }

    /// Reads a blob and verifies its digest. None if the blob does not exist. A damaged blob is removed.
    /// # Errors
    /// [`Error::Damaged`]; errors of the read.
    pub fn read_blob(&self, digest: &Digest, limit_bytes: u64) -> Result<Option<Bytes>, Error> {
        self.check()?;
        let path = self.blob_path(digest);
        let Some(bytes) = read_limited(&path, limit_bytes)? else { return Ok(None) };
        let found = Digest::of(&bytes);
        if found != *digest {
            // Another process may have removed the damaged blob already.
            let _ = fs::remove_file(&path);
            return Err(Error::Damaged { path, expected: *digest, found });
        }
        record_use(&path);
        Ok(Some(bytes))
    }

    /// Creates a writer for a new blob.
    pub fn writer(&self) -> BlobWriter {
        BlobWriter::new(self.clone())
    }

    /// Returns a private folder for a reader that stores more than files, and creates it if it is missing.
    ///
    /// [`Store::survey`] counts the folder. Pruning removes only its clones.
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        self.prepare()?;
        let path = self.shared.settings.folder.join(name);
        make_folder(&path)?;
        Ok(path)
    }

    /// Checks that an existing store has the supported layout.
    /// # Errors
    /// [`Error::NewerStore`]; [`Error::Store`] if the layout cannot be read.
    pub fn check(&self) -> Result<(), Error> {
        self.shared.readable.get_or_init(|| check_layout(&self.shared.settings.folder)).clone()
    }

    /// Creates missing folders.
    /// # Errors
    /// Errors of [`Store::check`]; [`Error::ForeignStore`]; [`Error::Store`] if a folder cannot be created.
    pub fn prepare(&self) -> Result<(), Error> {
        let prepare = || {
            self.check()?;
            let root = &self.shared.settings.folder;
            make_folder(root)?;
            let layout = root.join(LAYOUT_FILE);
            if !layout.exists() {
                // Pruning may remove every file in the folder, so the folder must not contain other files. Those of another
                // process come after its layout file.
                reject_foreign(root).or_else(|error| if layout.exists() { Ok(()) } else { Err(error) })?;
                writer::write_atomically(&layout, format!("{LAYOUT}\n").as_bytes())?;
            }
            [self.blobs(), self.entries(), self.locks()].iter().try_for_each(|folder| make_folder(folder))
        };
        self.shared.writable.get_or_init(prepare).clone()
    }

    /// Counts written bytes, and prunes the store above the limit. Skipped while another process prunes.
    fn count_written(&self, written_bytes: u64) {
        let mut was_counted = true;
        let size = self.shared.size_bytes.get_or_init(|| {
            was_counted = false;
            let clones: u64 = self.idle_clones().iter().map(|clone| clone.size_bytes).sum();
            AtomicU64::new(inventory::size_of_blobs(&self.blobs()) + clones)
        });
        let added = if was_counted { written_bytes } else { 0 };
        if size.fetch_add(added, Ordering::Relaxed) + added > self.shared.settings.max_bytes
            && let Some(left_bytes) = self.prune_unless_busy()
        {
            size.store(left_bytes, Ordering::Relaxed);
        }
    }

    fn blobs(&self) -> PathBuf {
        self.shared.settings.folder.join("blobs").join("sha256")
    }

    fn entries(&self) -> PathBuf {
        self.shared.settings.folder.join("entries")
    }

    fn locks(&self) -> PathBuf {
        self.shared.settings.folder.join("locks")
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

fn check_layout(folder: &Path) -> Result<(), Error> {
    let path = folder.join(LAYOUT_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(store_error(&path, error)),
    };
    match text.trim().parse::<u32>() {
        Ok(LAYOUT) => Ok(()),
        _ => Err(Error::NewerStore {
            folder: folder.to_owned(),
            layout: text.trim().chars().take(20).collect(),
        }),
    }
}

/// Fails if a folder without a layout file contains other files. Hidden files and `lost+found` are ignored.
fn reject_foreign(root: &Path) -> Result<(), Error> {
    let mut names = fs::read_dir(root).map_err(|error| store_error(root, error))?.flatten();
    let is_foreign = |name: &str| !name.starts_with('.') && name != "lost+found";
    match names.find(|entry| is_foreign(&entry.file_name().to_string_lossy())) {
        Some(_) => Err(Error::ForeignStore { folder: root.to_owned() }),
        None => Ok(()),
    }
}

/// Creates a folder and its parents with access for the owner only.
fn make_folder(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| store_error(path, error))
}

/// Records the use of a file, unless a recent use is recorded. Failures are ignored, because the store may be
/// read-only.
pub fn record_use(path: &Path) {
    let now = SystemTime::now();
    let noted = fs::metadata(path).and_then(|metadata| metadata.modified());
    let is_recent =
        noted.is_ok_and(|noted| now.duration_since(noted).is_ok_and(|age| age < USE_RECORD_INTERVAL));
    if !is_recent {
        let _ = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(now));
    }
}

/// Returns the error for an unusable file or folder of the cache.
pub fn store_error(path: &Path, source: io::Error) -> Error {
    Error::Store { path: path.to_owned(), source: Arc::new(source) }
}
