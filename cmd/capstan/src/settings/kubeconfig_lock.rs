use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// An edit takes milliseconds, so a lock that stays this long was left behind.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// The lock that kubectl takes while it edits a kubeconfig: `FILE.lock` exists as long as the lock is held.
/// Source: client-go 0.36 tools/clientcmd/config.go `lockFile`; differs: there, a held lock is an error at once.
#[derive(Debug)]
pub(super) struct KubeconfigLock {
    path: PathBuf,
}

/// The reason why a kubeconfig could not be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KubeconfigLockError {
    /// Another program holds the lock, or left it behind.
    #[error("cannot lock the kubeconfig `{}`: `{}` exists", kubeconfig.display(), lock.display())]
    Held {
        /// The kubeconfig.
        kubeconfig: PathBuf,
        /// The lock file.
        lock: PathBuf,
    },
    /// The lock file cannot be created.
    #[error("cannot create the lock file `{}`", lock.display())]
    NotCreated {
        /// The lock file.
        lock: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl KubeconfigLock {
    /// Takes the lock of a kubeconfig; waits while another program holds it.
    /// # Errors
    /// When the lock is not free in time, or its file cannot be created.
    pub(super) fn take(kubeconfig: &Path) -> Result<Self, KubeconfigLockError> {
        Self::take_within(kubeconfig, PATIENCE)
    }

    fn take_within(kubeconfig: &Path, patience: Duration) -> Result<Self, KubeconfigLockError> {
        let mut lock = kubeconfig.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let started = Instant::now();
        loop {
            match fs::OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Self { path: lock }),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(KubeconfigLockError::NotCreated { lock, source: error });
                }
                Err(_) if started.elapsed() >= patience => {
                    return Err(KubeconfigLockError::Held { kubeconfig: kubeconfig.to_owned(), lock });
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

impl Drop for KubeconfigLock {
    fn drop(&mut self) {
        // A lock that somebody removed is free already.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_left_behind_is_named_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (kubeconfig, lock) = (folder.path().join("config"), folder.path().join("config.lock"));
        fs::write(&lock, "").unwrap();
        let error = KubeconfigLock::take_within(&kubeconfig, Duration::ZERO).unwrap_err();
        assert!(matches!(error, KubeconfigLockError::Held { lock: named, .. } if named == lock));
        assert!(lock.exists());
        fs::remove_file(&lock).unwrap();
        drop(KubeconfigLock::take_within(&kubeconfig, Duration::ZERO).unwrap());
        assert!(!lock.exists());
    }
}
