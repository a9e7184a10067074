//! Locks of files that other programs edit too.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use api::{ErrorExplanation, Explain};

/// The age limit of a lock. An edit takes milliseconds, so an older lock is a leftover.
const STALE_LOCK_AGE: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The lock of a file that other programs edit too: `FILE.lock` exists as long as the lock is held. kubectl locks kubeconfigs in
/// this way.
/// Source: client-go 0.36 tools/clientcmd/config.go `lockFile`; differs: there, a held lock is an error at once.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
}

/// The reason why a file could not be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileLockError {
    #[error("cannot lock `{}`: `{}` exists", file.display(), lock.display())]
    Held { file: PathBuf, lock: PathBuf },
    #[error("cannot create the lock file `{}`", lock.display())]
    NotCreated {
        lock: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl Explain for FileLockError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Held { lock, .. } => ErrorExplanation::hint(format!(
                "if no other program is editing the file, remove the lock: `rm {}`",
                lock.display()
            )),
            Self::NotCreated { .. } => ErrorExplanation::default(),
        }
    }
}

impl FileLock {
    /// Takes the lock of a file. Waits while another program holds the lock.
    pub(crate) fn acquire(file: &Path) -> Result<Self, FileLockError> {
        Self::acquire_within(file, STALE_LOCK_AGE)
    }

    fn acquire_within(file: &Path, patience: Duration) -> Result<Self, FileLockError> {
        let mut lock = file.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let started = Instant::now();
        loop {
            match fs::OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Self { path: lock }),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(FileLockError::NotCreated { lock, source: error });
                }
                Err(_) if started.elapsed() >= patience => {
                    return Err(FileLockError::Held { file: file.to_owned(), lock });
                }
                Err(_) => thread::sleep(RETRY_INTERVAL),
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A lock that another program removed is already free.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leftover_lock_is_named_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (kubeconfig, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        fs::write(&lock, "").unwrap();
        let error = FileLock::acquire_within(&kubeconfig, Duration::ZERO).unwrap_err();
        assert!(matches!(error, FileLockError::Held { lock: named, .. } if named == lock));
        assert!(lock.exists());
        fs::remove_file(&lock).unwrap();
        drop(FileLock::acquire_within(&kubeconfig, Duration::ZERO).unwrap());
        assert!(!lock.exists());
    }
}
