//! Whoever fetches an address holds its lock; whoever else wants it waits, in this process and in others.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Store, store_error};
use crate::{Digest, Error, Event};

/// Waits between tries: short at first, since most files are small, then longer, since some are not.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Held while an address is fetched. Dropping it frees it, and so does the end of the process.
#[derive(Debug)]
pub struct KeyLock {
    _file: File,
    waited: bool,
}

impl KeyLock {
    /// Whether somebody else held it before, and so may have done what is to be done.
    pub fn waited(&self) -> bool {
        self.waited
    }

    /// Takes the lock that a file of its own stands for; `told` is called once when somebody else holds it.
    /// # Errors
    /// [`Error::Store`] when the file cannot be made or locked.
    pub async fn of_file(path: &Path, told: impl FnOnce()) -> Result<Self, Error> {
        let (mut wait, mut told) = (FIRST_WAIT, Some(told));
        loop {
            if let Some(file) = try_lock_file(path)? {
                return Ok(Self { _file: file, waited: told.is_none() });
            }
            if let Some(told) = told.take() {
                told();
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

impl Store {
    /// Takes the lock of a key, which is shown to people while somebody else holds it.
    /// # Errors
    /// [`Error::Store`] when the lock file cannot be made or locked.
    pub async fn lock(&self, key: &str) -> Result<KeyLock, Error> {
        self.prepare()?;
        let waiting = || self.emit(&Event::WaitingForOther { wanted: key.to_owned() });
        KeyLock::of_file(&self.lock_path(key), waiting).await
    }

    /// The lock of a key where nobody holds it.
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

/// The lock of a file where nobody holds it.
pub(super) fn try_lock_file(path: &Path) -> Result<Option<File>, Error> {
    loop {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| store_error(path, error))?;
        match file.try_lock() {
            // The file may have been removed since it was opened; others would lock another one.
            Ok(()) if is_removed(&file) => {}
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(store_error(path, error)),
        }
    }
}

#[cfg(unix)]
fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn is_removed(_: &File) -> bool {
    false
}
