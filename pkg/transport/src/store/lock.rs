//! Locks of addresses. Only one task fetches an address at a time; tasks in this and other processes wait.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{Store, store_error};
use crate::{Digest, Error, Event};

/// Wait times between attempts. They are short at first, because most files are small, and then grow.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// The wait after which it is reported.
const REPORTED_AFTER: Duration = Duration::from_secs(1);

/// The lock of an address during a fetch. Dropping the value or ending the process releases the lock.
#[derive(Debug)]
pub struct KeyLock {
    _file: File,
    waited: bool,
}

impl KeyLock {
    /// True if another task held the lock before. That task may have completed the work.
    pub fn waited(&self) -> bool {
        self.waited
    }

    /// Acquires the lock of a lock file. After a second, calls `on_wait` once with the process that holds the lock, if known.
    /// The wait ends with the lock, because the holder may be slow or stopped.
    /// # Errors
    /// [`Error::Store`] if the file cannot be created or locked.
    pub async fn acquire(path: &Path, on_wait: impl FnOnce(Option<u32>)) -> Result<Self, Error> {
        let (mut wait, mut on_wait, started) = (FIRST_WAIT, Some(on_wait), Instant::now());
        let mut waited = false;
        loop {
            if let Some(file) = try_lock_file(path)? {
                return Ok(Self { _file: file, waited });
            }
            waited = true;
            if started.elapsed() > REPORTED_AFTER
                && let Some(on_wait) = on_wait.take()
            {
                on_wait(fs::read_to_string(path).ok().and_then(|process| process.parse().ok()));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

impl KeyLock {
    /// Acquires the lock of a lock file. None if another process holds the lock.
    /// # Errors
    /// The file cannot be created or locked, or is a link.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        Ok(lock_file(path)?.map(|file| Self { _file: file, waited: false }))
    }
}

impl Store {
    /// Acquires the lock of a key. During a longer wait, an event shows the key and the holder to the user.
    /// # Errors
    /// [`Error::Store`] if the lock file cannot be created or locked.
    pub async fn lock(&self, key: &str) -> Result<KeyLock, Error> {
        let waiting = |holder| self.emit(&Event::WaitingForOtherTask { wanted: key.to_owned(), holder });
        self.lock_with(key, waiting).await
    }

    /// Acquires the lock of a key, as [`KeyLock::acquire`].
    /// # Errors
    /// As [`Store::lock`].
    pub async fn lock_with(&self, key: &str, on_wait: impl FnOnce(Option<u32>)) -> Result<KeyLock, Error> {
        self.prepare()?;
        KeyLock::acquire(&self.lock_path(key), on_wait).await
    }

    /// Acquires the lock of a key. None if another task holds the lock.
    pub(super) fn try_lock(&self, key: &str) -> Result<Option<File>, Error> {
        self.prepare()?;
        try_lock_file(&self.lock_path(key))
    }

    fn lock_path(&self, key: &str) -> PathBuf {
        self.locks().join(Digest::of(key.as_bytes()).hex())
    }

    fn emit(&self, event: &Event) {
        if let Some(events) = &self.shared.events {
            events(event);
        }
    }
}

/// Acquires the lock of a lock file. None if another task holds the lock.
pub(super) fn try_lock_file(path: &Path) -> Result<Option<File>, Error> {
    lock_file(path).map_err(|error| store_error(path, error))
}

fn lock_file(path: &Path) -> io::Result<Option<File>> {
    loop {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        match file.try_lock() {
            // Other tasks would lock the new file.
            Ok(()) if !is_at(path, &file)? => {}
            Ok(()) => {
                // Others show the process while they wait. The lock also works without it.
                let process = fs::read_link("/proc/self").unwrap_or_default();
                let _ = file.set_len(0).and_then(|()| write!(&file, "{}", process.display()));
                return Ok(Some(file));
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// True if an opened file is still at its path. Another process may have removed or replaced it.
/// # Errors
/// The path is a link. The file behind it, which may be anybody's, must not change.
#[cfg(unix)]
fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let opened = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => Err(io::Error::other("it is a link")),
        Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
pub(super) fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// On other systems, an open file keeps its name.
#[cfg(not(unix))]
fn is_at(_: &Path, _: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
pub(super) fn is_removed(_: &File) -> bool {
    false
}
