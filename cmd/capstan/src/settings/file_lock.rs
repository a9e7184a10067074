//! Locks of files that other programs edit too.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::Failure;

/// The age limit of a lock. An edit takes milliseconds, so an older lock is a leftover.
const STALE_LOCK_AGE: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The lock of a file that other programs edit too: `FILE.lock` exists as long as the lock is held. kubectl locks
/// kubeconfigs in this way.
/// Source: client-go 0.36 tools/clientcmd/config.go `lockFile`; differs: there, a held lock is an error at once.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock of a file. Waits while another program holds the lock.
    pub(crate) fn acquire(file: &Path) -> Result<Self, Failure> {
        Self::acquire_within(file, STALE_LOCK_AGE)
    }

    fn acquire_within(file: &Path, patience: Duration) -> Result<Self, Failure> {
        let mut lock = file.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let started = Instant::now();
        loop {
            match fs::OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Self { path: lock }),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Failure::io("create the lock file", &lock, &error));
                }
                Err(_) if started.elapsed() >= patience => {
                    let (file, lock) = (file.display(), lock.display());
                    let held = Failure::user(format!("cannot lock `{file}`: `{lock}` exists"));
                    return Err(held.hint(format!(
                        "if no other program is editing the file, remove the lock: `rm {lock}`"
                    )));
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
        let (file, held) = (kubeconfig.display(), lock.display());
        assert_eq!(error.message(), format!("cannot lock `{file}`: `{held}` exists"));
        assert!(lock.exists());
        fs::remove_file(&lock).unwrap();
        drop(FileLock::acquire_within(&kubeconfig, Duration::ZERO).unwrap());
        assert!(!lock.exists());
    }
}
