//! Locks of addresses. Only one task fetches an address at a time; tasks in this and other processes wait.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Store, store_error};
use crate::{Digest, Error, Event};

/// Wait times between attempts. They are short at first, because most files are small, and then grow.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(200);

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

    /// Acquires the lock of a lock file. Calls `reported` once if another task holds the lock.
    /// # Errors
    /// [`Error::Store`] if the file cannot be created or locked.
    pub async fn acquire(path: &Path, on_wait: impl FnOnce()) -> Result<Self, Error> {
        let (mut wait, mut reported) = (FIRST_WAIT, Some(on_wait));
        loop {
            if let Some(file) = try_lock_file(path)? {
                return Ok(Self { _file: file, waited: reported.is_none() });
            }
            if let Some(reported) = reported.take() {
                reported();
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

impl Store {
    /// Acquires the lock of a key. While another task holds the lock, an event shows the key to the user.
    /// # Errors
    /// [`Error::Store`] if the lock file cannot be created or locked.
    pub async fn lock(&self, key: &str) -> Result<KeyLock, Error> {
        self.lock_with(key, || self.emit(&Event::WaitingForOtherTask { wanted: key.to_owned() })).await
    }

    /// Acquires the lock of a key. Calls `on_wait` once if another task holds the lock.
    /// # Errors
    /// As [`Store::lock`].
    pub async fn lock_with(&self, key: &str, on_wait: impl FnOnce()) -> Result<KeyLock, Error> {
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
    loop {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| store_error(path, error))?;
        match file.try_lock() {
            // Another process may have removed the file after it was opened. Other tasks would then lock a new file.
            Ok(()) if is_removed(&file) => {}
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(store_error(path, error)),
        }
    }
}

#[cfg(unix)]
pub(super) fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// On other systems, an open file keeps its name.
#[cfg(not(unix))]
pub(super) fn is_removed(_: &File) -> bool {
    false
}
