//! The data directory: which files it has, and who may use it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// A history that lets clients miss some minutes of a busy server.
pub(crate) const DEFAULT_HISTORY: usize = 10_000;

/// How a data directory is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryOptions {
    /// How many changes are kept in memory, see [`Store::in_memory`](super::Store::in_memory).
    pub history: usize,
    /// The number of this process, told to others that want the directory.
    pub owner: Option<u32>,
}

/// Why a data directory cannot be opened. The state in it is as it was.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("`{}` is in use{}", directory.display(), by(*owner))]
    InUse {
        /// The data directory.
        directory: PathBuf,
        /// The number of that process, if it left it.
        owner: Option<u32>,
    },
    /// The journal was made by something else.
    #[error("`{}` is not a journal of capstan; name another directory, or move the file away", file.display())]
    Foreign {
        /// The journal.
        file: PathBuf,
    },
    /// The journal was made by another version.
    #[error("`{}` has a format this version does not know; use the version of capstan that wrote it", file.display())]
    UnknownFormat {
        /// The journal.
        file: PathBuf,
    },
    /// The journal was changed by something else, or the disk failed.
    #[error("`{}` is damaged at byte {offset}: {reason}; {}", file.display(), advice(file, *offset, *has_state))]
    Damaged {
        /// The journal.
        file: PathBuf,
        /// Where the first record begins that is not sound.
        offset: u64,
        /// What is wrong with it.
        reason: &'static str,
        /// What stands before it is a state to go on with.
        has_state: bool,
    },
    /// The system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// `create`, `lock`, `read`…
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A data directory that belongs to this process until it is dropped.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    /// Locked by the system: the lock goes with the process, whatever becomes of the file.
    _lock: File,
}

impl Default for DirectoryOptions {
    fn default() -> Self {
        Self { history: DEFAULT_HISTORY, owner: None }
    }
}

impl OpenError {
    /// For `map_err`: what was tried, and on what.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

impl Directory {
    /// Makes the directory if need be, and takes it.
    pub(super) fn take(path: &Path, owner: Option<u32>) -> Result<Self, OpenError> {
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
        // For people alone: the directory is as well locked on a disk that has no room for the number.
        drop(write_owner(&mut lock, owner));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Where the journal is.
    pub(super) fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Replaces the journal as a whole: after a stop at any moment, either the old one or the new one is there. Returns
    /// the new one, open for more.
    ///
    /// # Errors
    /// When the system refuses; the old journal is then as it was.
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
            // The next replacement begins with an empty file anyway.
            drop(fs::remove_file(&new));
        }
        result
    }

    /// Takes away what a stopped replacement left behind.
    pub(super) fn clean(&self) -> Result<(), OpenError> {
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

fn by(owner: Option<u32>) -> String {
    owner.map(|owner| format!(" by process {owner}")).unwrap_or_default()
}

fn advice(file: &Path, offset: u64, has_state: bool) -> String {
    let last_resort = if has_state {
        let file = file.display();
        format!("cut it there to go on with the state of then (`truncate --size {offset} '{file}'`)")
    } else {
        "move it away to begin anew".to_owned()
    };
    format!("put a copy of it back, or {last_resort}")
}

fn write_owner(lock: &mut File, owner: Option<u32>) -> io::Result<()> {
    lock.set_len(0)?;
    owner.map_or(Ok(()), |owner| writeln!(lock, "{owner}"))
}

fn read_owner(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    // A number has no more digits; the file may be anything by now.
    lock.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// For the eyes of this user: the store holds secrets.
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
