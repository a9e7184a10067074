use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tempfile::TempDir;
use tokio::sync::OnceCell;
use transport::store::store_error;

use super::{
    Commit,
    failure::GitFailure,
    program::{GitSettings, Run},
};
use crate::Context;

/// The oldest Git that serves; that of Ubuntu 20.04.
const OLDEST: (u32, u32) = (2, 25);
const OLDEST_TEXT: &str = "2.25";

/// What all remotes of one process share.
#[derive(Default)]
pub(super) struct Session {
    program: OnceCell<Result<(), Arc<GitFailure>>>,
    remotes: Mutex<HashMap<PathBuf, Arc<Known>>>,
    temporary: OnceLock<Result<TempDir, transport::Error>>,
}

/// What this process knows of a clone.
#[derive(Default)]
pub(super) struct Known {
    /// Whether it was fetched by this process; held while that goes on.
    pub(super) fetched: tokio::sync::Mutex<bool>,
    commits: Mutex<HashMap<String, Commit>>,
}

impl Known {
    pub(super) fn commit(&self, tree_ish: &str) -> Option<Commit> {
        lock(&self.commits).get(tree_ish).cloned()
    }

    pub(super) fn learn(&self, tree_ish: &str, commit: &Commit) {
        lock(&self.commits).insert(tree_ish.to_owned(), commit.clone());
    }
}

impl Session {
    /// What is known of the clone in a folder.
    pub(super) fn known(&self, clone: &Path) -> Arc<Known> {
        lock(&self.remotes).entry(clone.to_owned()).or_default().clone()
    }

    /// Checks, once, that there is a Git that serves.
    pub(super) async fn check_program(&self, settings: &GitSettings) -> Result<(), Arc<GitFailure>> {
        let check = async {
            let answer = Run::new(settings, ["version"]).output().await?;
            let answer = String::from_utf8_lossy(&answer);
            let version = answer
                .trim()
                .strip_prefix("git version ")
                .ok_or(GitFailure::Unreadable { what: "a version" })?;
            match numbers(version) {
                Some(found) if found >= OLDEST => Ok(()),
                Some(_) => Err(GitFailure::TooOld { version: version.to_owned(), needed: OLDEST_TEXT }),
                None => Err(GitFailure::Unreadable { what: "a version" }),
            }
        };
        self.program.get_or_init(|| async { check.await.map_err(Arc::new) }).await.clone()
    }
}

/// The folder that clones are kept in: of the store, or, where nothing is kept, one that goes with the process.
/// # Errors
/// When it cannot be made.
pub(super) fn clones(context: &Context) -> Result<PathBuf, transport::Error> {
    if let Some(store) = context.store() {
        match store.folder("git") {
            Ok(folder) => return Ok(folder),
            Err(error) => context.tell_of_store(&error),
        }
    }
    let make = || {
        let folder = tempfile::Builder::new().prefix("capstan-git-").tempdir();
        folder.map_err(|error| store_error(&tempfile::env::temp_dir(), error))
    };
    let session = context.session::<Session>();
    let temporary = session.temporary.get_or_init(make);
    temporary.as_ref().map(|folder| folder.path().to_owned()).map_err(Clone::clone)
}

/// Major and minor of `2.39.5 (Apple Git-154)`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', ' ']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git_are_read_as_vendors_write_them() {
        assert_eq!(numbers("2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(numbers("2.47.1.windows.1"), Some((2, 47)));
        assert_eq!(numbers("2.25"), Some((2, 25)));
        assert_eq!(numbers("next"), None);
    }
}
