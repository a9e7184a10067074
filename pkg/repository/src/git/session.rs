use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tempfile::TempDir;
use tokio::sync::OnceCell;
use transport::store::{hold_clone, is_clone, store_error};

use super::{
    GitCommit,
    failure::GitFailure,
    program::{GitCommand, GitSettings},
};
use crate::RepositoryContext;

/// The oldest supported Git version, which is that of Ubuntu 20.04.
const MIN_VERSION: (u32, u32) = (2, 25);
const MIN_VERSION_TEXT: &str = "2.25";

/// State shared by all remotes of one process.
#[derive(Default)]
pub(super) struct GitSession {
    program: OnceCell<Result<(), Arc<GitFailure>>>,
    remotes: Mutex<HashMap<PathBuf, Arc<RemoteCache>>>,
    temporary: OnceLock<Result<TempDir, transport::Error>>,
}

/// State of one clone in this process.
#[derive(Default)]
pub(super) struct RemoteCache {
    /// True if this process has fetched the clone. Locked during a fetch.
    pub(super) is_fetched: tokio::sync::Mutex<bool>,
    commits: Mutex<HashMap<String, GitCommit>>,
    /// Protects the clone against pruning by other processes.
    held: OnceLock<File>,
}

impl RemoteCache {
    pub(super) fn commit(&self, tree_ish: &str) -> Option<GitCommit> {
        lock(&self.commits).get(tree_ish).cloned()
    }

    pub(super) fn add_commit(&self, tree_ish: &str, commit: &GitCommit) {
        lock(&self.commits).insert(tree_ish.to_owned(), commit.clone());
    }

    /// Holds the clone until the process ends. False if it does not exist.
    pub(super) fn hold(&self, clone: &Path) -> bool {
        is_clone(clone)
            && (self.held.get().is_some()
                || hold_clone(clone).is_some_and(|head| self.held.set(head).is_ok()))
    }
}

impl GitSession {
    /// The state of the clone in a folder.
    pub(super) fn remote_cache(&self, clone: &Path) -> Arc<RemoteCache> {
        lock(&self.remotes).entry(clone.to_owned()).or_default().clone()
    }

    /// Checks once that a supported Git is installed.
    pub(super) async fn check_program(&self, settings: &GitSettings) -> Result<(), Arc<GitFailure>> {
        let check = async {
            let answer = GitCommand::new(settings, ["version"]).output().await?;
            let answer = String::from_utf8_lossy(&answer);
            let version = answer
                .trim()
                .strip_prefix("git version ")
                .ok_or(GitFailure::Unreadable { what: "a version" })?;
            match parse_version(version) {
                Some(found) if found >= MIN_VERSION => Ok(()),
                Some(_) => Err(GitFailure::TooOld { version: version.to_owned(), needed: MIN_VERSION_TEXT }),
                None => Err(GitFailure::Unreadable { what: "a version" }),
            }
        };
        self.program.get_or_init(|| async { check.await.map_err(Arc::new) }).await.clone()
    }
}

/// The folder that contains the clones: in the cache, or a temporary folder if the cache is disabled.
/// # Errors
/// Fails if the folder cannot be created.
pub(super) fn clones_folder(context: &RepositoryContext) -> Result<PathBuf, transport::Error> {
    if let Some(store) = context.store() {
        match store.folder("git") {
            Ok(folder) => return Ok(folder),
            Err(error) => context.report_store_error(&error),
        }
    }
    let make = || {
        let folder = tempfile::Builder::new().prefix("capstan-git-").tempdir();
        folder.map_err(|error| store_error(&tempfile::env::temp_dir(), error))
    };
    let session = context.session::<GitSession>();
    let temporary = session.temporary.get_or_init(make);
    temporary.as_ref().map(|folder| folder.path().to_owned()).map_err(Clone::clone)
}

/// The major and minor version in a text such as `2.39.5 (Apple Git-154)`.
fn parse_version(version: &str) -> Option<(u32, u32)> {
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
    fn vendor_versions_of_git_are_parsed() {
        assert_eq!(parse_version("2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(parse_version("2.47.1.windows.1"), Some((2, 47)));
        assert_eq!(parse_version("2.25"), Some((2, 25)));
        assert_eq!(parse_version("next"), None);
    }
}
