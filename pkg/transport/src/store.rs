//! What was fetched, kept on disk by digest and shared by all runs of a user.
//!
//! ```text
//! capstan-cache            version of this layout
//! blobs/sha256/<hex>       content, as in an OCI layout
//! entries/<hex>.json       an address and the blob it gave, named by the digest of its key
//! locks/<hex>              held while an address is fetched
//! <name>/                  a folder of a reader that keeps more than files, such as Git
//! ```
//!
//! - A blob is there whole or not at all: it is written beside its place, made durable, and renamed. Whoever is killed
//!   leaves at most a temporary file, which pruning removes a day later.
//! - A blob is hashed whenever it is read; a damaged one is dropped.
//! - Locks are those of the system: a holder that died holds none.
//! - What is not there, cannot be written or does not fit is never a reason to fail: callers go on without.

mod clones;
mod entry;
mod inventory;
mod lock;
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

pub use clones::{is_clone, lock_file};
pub(crate) use entry::Entry;
pub use lock::KeyLock;
pub use prune::{Prune, Pruned};
pub use survey::{BrokenEntry, HostShare, StoreSurvey, Verified};
pub use writer::BlobWriter;

use crate::{Digest, Error, EventSink, disk::read_limited};

/// The layout this program reads and writes.
const LAYOUT: u32 = 1;
/// The file that names the layout.
const LAYOUT_FILE: &str = "capstan-cache";
/// How temporary files begin.
const TEMPORARY: &str = ".new-";
/// Use is noted by the time of a file, and no more often than this: reading should not write.
const USE_NOTED_EVERY: Duration = Duration::from_hours(1);

/// Where files are kept, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// The folder; made when something is first kept.
    pub folder: PathBuf,
    /// Beyond this the least recently used are removed.
    pub max_bytes: u64,
}

impl StoreSettings {
    /// The size bound where none is configured: 1 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;
}

/// Files on disk by digest and by address. Cheap to clone; nothing is touched until something is read or written.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    settings: StoreSettings,
    events: Option<EventSink>,
    readable: OnceLock<Result<(), Error>>,
    writable: OnceLock<Result<(), Error>>,
    /// Bytes in all blobs and clones that may go: counted once, then what this process adds.
    size_bytes: OnceLock<AtomicU64>,
}

impl Store {
    /// Takes the settings; touches nothing.
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

    /// The settings.
    pub fn settings(&self) -> &StoreSettings {
        &self.shared.settings
    }

    /// Where a blob is, whether it is there or not. Who reads it from there checks its digest.
    pub fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.blobs().join(digest.hex())
    }

    /// The content of a blob, checked; none when it is not there. A damaged one is removed.
    /// # Errors
    /// [`Error::Damaged`]; what stops the read.
    pub fn read_blob(&self, digest: &Digest, limit_bytes: u64) -> Result<Option<Bytes>, Error> {
        self.check()?;
        let path = self.blob_path(digest);
        let Some(bytes) = read_limited(&path, limit_bytes)? else { return Ok(None) };
        let found = Digest::of(&bytes);
        if found != *digest {
            // It may be gone already: another process may have found the same.
            let _ = fs::remove_file(&path);
            return Err(Error::Damaged { path, expected: *digest, found });
        }
        note_use(&path);
        Ok(Some(bytes))
    }

    /// A blob to be written piece by piece.
    pub fn writer(&self) -> BlobWriter {
        BlobWriter::new(self.clone())
    }

    /// A private folder for a reader that keeps more than files; made when it is not there.
    /// It counts for [`Store::survey`], and goes with all else when everything is pruned; a clone in it before that, when
    /// it is its turn.
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        self.prepare()?;
        let path = self.shared.settings.folder.join(name);
        make_folder(&path)?;
        Ok(path)
    }

    /// Checks that the layout, if there is one, is one this program knows.
    /// # Errors
    /// [`Error::NewerStore`]; [`Error::Store`] when that cannot be told.
    pub fn check(&self) -> Result<(), Error> {
        self.shared.readable.get_or_init(|| check_layout(&self.shared.settings.folder)).clone()
    }

    /// Makes what is missing of the folders.
    /// # Errors
    /// As [`Store::check`]; [`Error::ForeignStore`]; [`Error::Store`] when they cannot be made.
    pub fn prepare(&self) -> Result<(), Error> {
        let prepare = || {
            self.check()?;
            let root = &self.shared.settings.folder;
            make_folder(root)?;
            let layout = root.join(LAYOUT_FILE);
            if !layout.exists() {
                // All of it is ours to remove, so it must not begin where something else is.
                refuse_foreign(root)?;
                writer::write_whole(&layout, format!("{LAYOUT}\n").as_bytes())?;
            }
            [self.blobs(), self.entries(), self.locks()].iter().try_for_each(|folder| make_folder(folder))
        };
        self.shared.writable.get_or_init(prepare).clone()
    }

    /// Counts what was written, and makes room when it is more than may be kept. Room is made by one process at a
    /// time: what another one is at is left to it.
    fn account(&self, written_bytes: u64) {
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

/// A folder that holds something and no layout is no cache; what every file system or desktop puts anywhere aside.
fn refuse_foreign(root: &Path) -> Result<(), Error> {
    let mut names = fs::read_dir(root).map_err(|error| store_error(root, error))?.flatten();
    let is_foreign = |name: &str| !name.starts_with('.') && name != "lost+found";
    match names.find(|entry| is_foreign(&entry.file_name().to_string_lossy())) {
        Some(_) => Err(Error::ForeignStore { folder: root.to_owned() }),
        None => Ok(()),
    }
}

/// Makes a folder, and those above it, that nobody else can look into.
fn make_folder(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| store_error(path, error))
}

/// Notes that a file was used now, where that was not noted lately. A store that is read alone need not allow it.
pub fn note_use(path: &Path) {
    let now = SystemTime::now();
    let noted = fs::metadata(path).and_then(|metadata| metadata.modified());
    let is_recent = noted.is_ok_and(|noted| now.duration_since(noted).is_ok_and(|age| age < USE_NOTED_EVERY));
    if !is_recent {
        let _ = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(now));
    }
}

/// A file or folder of the cache that cannot be used.
pub fn store_error(path: &Path, source: io::Error) -> Error {
    Error::Store { path: path.to_owned(), source: Arc::new(source) }
}
