//! The data directory: its files and its lock.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// The default length of the history: some minutes of changes on a busy server.
pub(crate) const DEFAULT_HISTORY: usize = 10_000;

/// The options of a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryOptions {
    /// The number of changes kept in memory, see [`Store::in_memory`](super::Store::in_memory).
    pub history: usize,
    /// The id of this process, shown to other processes that want the directory.
    pub owner: Option<u32>,
}

/// A failure to open a data directory. The stored state is unchanged.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process uses the directory.
    #[error("`{}` is in use{}", directory.display(), owner_suffix(*owner))]
    InUse {
        directory: PathBuf,
        /// The id of that process, if known.
        owner: Option<u32>,
    },
    /// The journal belongs to another program.
    #[error("`{}` is not a capstan journal; choose another directory or move the file away", file.display())]
    Foreign { file: PathBuf },
    /// The journal was written by another version.
    #[error("`{}` has an unknown format; use the version of capstan that wrote it", file.display())]
    UnknownFormat { file: PathBuf },
    /// The journal was changed externally, or the disk failed.
    #[error("`{}` is damaged at byte {offset}: {reason}; {}", file.display(), advice(file, *offset, *has_state))]
    Damaged {
        file: PathBuf,
        /// The start of the first invalid record.
        offset: u64,
        reason: &'static str,
        /// True if the records before the offset contain a usable state.
        has_state: bool,
    },
    /// An error of the operating system.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The failed action: `create`, `lock`, `read`…
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

/// A data directory that belongs to this process until the value is dropped.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    /// Locked by the operating system: the lock ends with the process, even if the file is deleted.
    _lock: File,
}

impl Default for DirectoryOptions {
    fn default() -> Self {
        Self { history: DEFAULT_HISTORY, owner: None }
    }
}

impl OpenError {
    /// Returns a closure for `map_err` that adds the action and the path.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

impl Directory {
    /// Locks the directory. Creates a missing directory.
    pub(super) fn lock(path: &Path, owner: Option<u32>) -> Result<Self, OpenError> {
        create_private_directory(path).map_err(OpenError::io("create", path))?;
        let lock_path = path.join("lock");
        let mut lock = private(OpenOptions::new().read(true).write(true).create(true))
            .open(&lock_path)
            .map_err(OpenError::io("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse { directory: path.to_owned(), owner: read_owner(&mut lock) });
            }
            Err(TryLockError::Error(source)) => return Err(OpenError::io("lock", &lock_path)(source)),
        }
        // The process id is information for users only. The lock also holds on a full disk without it.
        drop(write_owner(&mut lock, owner));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Replaces the whole journal atomically: after an interruption, either the old or the new journal exists. Returns
    /// the new journal, open for writes.
    ///
    /// # Errors
    /// Fails if the operating system refuses; the old journal is then unchanged.
    pub(super) fn replace_journal(
        &self,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<File> {
        let new = self.new_journal();
        let result = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&new).and_then(
            |mut file| {
                write(&mut file)?;
                file.sync_all()?;
                fs::rename(&new, self.journal())?;
                Ok(file)
            },
        );
        if result.is_err() {
            // The next replacement starts with an empty file anyway.
            drop(fs::remove_file(&new));
        }
        result
    }

    /// Removes the remains of an interrupted replacement.
    pub(super) fn remove_leftovers(&self) -> Result<(), OpenError> {
        let new = self.new_journal();
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(OpenError::io("remove", &new)(error))
            }
            _ => Ok(()),
        }
    }

    fn new_journal(&self) -> PathBuf {
        self.path.join("journal.new")
    }
}

fn owner_suffix(owner: Option<u32>) -> String {
    owner.map(|owner| format!(" by process {owner}")).unwrap_or_default()
}

fn advice(file: &Path, offset: u64, has_state: bool) -> String {
    let last_resort = if has_state {
        let file = file.display();
        format!(
            "truncate it there to continue with the state at that time (`truncate --size {offset} '{file}'`)"
        )
    } else {
        "move it away to start empty".to_owned()
    };
    format!("put a copy of it back, or {last_resort}")
}

fn write_owner(lock: &mut File, owner: Option<u32>) -> io::Result<()> {
    lock.set_len(0)?;
    owner.map_or(Ok(()), |owner| writeln!(lock, "{owner}"))
}

fn read_owner(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    // A process id has no more digits; the file may contain anything.
    lock.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Restricts the file to this user: the store contains secrets.
#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

#[cfg(not(unix))]
fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}
