//! Worktrees of dependencies, from one bare clone for each repository.

use std::fs;
use std::path::Path;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use repository::RepositoryContext;
use repository::git::{CloneStore, GitCommit, GitFailure, GitRemote, LocalChangesPolicy, RemoteUrl};
use transport::AddressOrigin;

use super::{CommitId, Dependency, DependencySpec};
use crate::error::CatalogError;
use crate::working_folder::{WorkingFolder, remove_folder};

/// The maximum number of repositories that are fetched at the same time.
const MAX_CONCURRENT: usize = 8;
/// The minimum number of digits of a shown hash.
const SHORT_HASH_DIGITS: usize = 6;

/// Fetches repositories into the working folder.
#[derive(Clone, Copy)]
pub(crate) struct Fetcher<'a> {
    pub(crate) folder: &'a WorkingFolder,
    pub(crate) context: &'a RepositoryContext,
    /// Discards uncommitted changes in worktrees.
    pub(crate) force: bool,
}

/// A dependency to fetch.
pub(crate) struct FetchRequest<'a> {
    pub(crate) name: &'a str,
    pub(crate) component: &'a str,
    pub(crate) spec: &'a DependencySpec,
    pub(crate) worktree: std::path::PathBuf,
    /// The words for the dependency in errors: `Component`, `Component alias`, `Package`.
    pub(crate) kind: &'static str,
    /// The start of errors, such as `while fetching component x`.
    pub(crate) context: String,
}

/// Fetches dependencies concurrently. The results have the order of the requests.
///
/// # Errors
/// The first failure, in the order of the requests that finish.
pub(crate) async fn fetch_all(
    fetcher: Fetcher<'_>,
    requests: Vec<FetchRequest<'_>>,
) -> Result<Vec<Dependency>, CatalogError> {
    stream::iter(requests).map(|request| fetcher.fetch(request)).buffered(MAX_CONCURRENT).try_collect().await
}

/// Opens a repository. Opens no connection. `problem` is the start of errors.
pub(super) fn open_repository(
    url: &str,
    clones: CloneStore<'_>,
    context: &RepositoryContext,
    problem: &str,
) -> Result<GitRemote, CatalogError> {
    let parsed = RemoteUrl::parse(url).map_err(|source| {
        let url = transport::address::redact_text(url);
        CatalogError::fetch(problem, repository::Error::RemoteUrl { url, source })
    })?;
    GitRemote::new(parsed, AddressOrigin::User, clones, context)
        .map_err(|error| CatalogError::fetch(problem, error))
}

impl Fetcher<'_> {
    /// Opens a repository with its clone in the working folder. Opens no connection.
    pub(crate) fn remote(&self, url: &str, context: &str) -> Result<GitRemote, CatalogError> {
        open_repository(url, CloneStore::Folder(&self.folder.clones()), self.context, context)
    }

    async fn fetch(&self, request: FetchRequest<'_>) -> Result<Dependency, CatalogError> {
        let FetchRequest { name, component, spec, worktree, kind, context } = request;
        let remote = self.remote(&spec.url, &context)?;
        let is_new = !worktree.exists();
        let commit = remote
            .resolve(&spec.version)
            .await
            .map_err(|error| unknown_version(error, &context, &spec.version, is_new))?;
        let uncommitted = || {
            CatalogError::rule_with_hint(
                format!("{kind} {name} has uncommitted changes. Please specify `--force` to discard them"),
                format!("commit the changes in `{}`", worktree.display()),
            )
        };
        match remote.worktree(&commit, &worktree, self.changes_policy()).await {
            Ok(_) => {}
            Err(error) if !is_new && has_failed(&error, is_local_changes) => return Err(uncommitted()),
            Err(error) if has_failed(&error, is_foreign) => {
                let work = remote.local_work(&worktree).await.unwrap_or_default();
                if !is_new && !self.force && work.has_changed_files {
                    return Err(uncommitted());
                }
                self.replace_foreign(&remote, &commit, &worktree, &context, error).await?;
            }
            Err(error) => return Err(CatalogError::fetch(context, error)),
        }
        Ok(Dependency {
            name: name.to_owned(),
            component: component.to_owned(),
            url: remote.url().address().to_owned(),
            version: spec.version.clone(),
            path: spec.path.clone(),
            worktree,
            commit: Some(commit_id(&remote, &commit).await),
        })
    }

    /// Checks out a commit. A clean worktree of another repository is replaced.
    pub(crate) async fn check_out(
        &self,
        remote: &GitRemote,
        commit: &GitCommit,
        worktree: &Path,
        context: &str,
    ) -> Result<(), CatalogError> {
        match remote.worktree(commit, worktree, self.changes_policy()).await {
            Ok(_) => Ok(()),
            Err(error) if has_failed(&error, is_foreign) => {
                self.replace_foreign(remote, commit, worktree, context, error).await
            }
            Err(error) => Err(CatalogError::fetch(context, error)),
        }
    }

    /// Checks out a commit. Changes, and anything else in the place of the worktree, are discarded.
    pub(crate) async fn replace_worktree(
        &self,
        remote: &GitRemote,
        commit: &GitCommit,
        worktree: &Path,
        context: &str,
    ) -> Result<(), CatalogError> {
        let check_out = || remote.worktree(commit, worktree, LocalChangesPolicy::Discard);
        let mut checked_out = check_out().await;
        if checked_out.as_ref().is_err_and(|error| has_failed(error, is_foreign)) {
            remove_folder(worktree)?;
            checked_out = check_out().await;
        }
        checked_out.map(|_| ()).map_err(|error| CatalogError::fetch(context, error))
    }

    /// Replaces a clean worktree of another repository. Any other folder is the given error.
    async fn replace_foreign(
        &self,
        remote: &GitRemote,
        commit: &GitCommit,
        worktree: &Path,
        context: &str,
        error: repository::Error,
    ) -> Result<(), CatalogError> {
        if !worktree.join(".git").exists() {
            return Err(CatalogError::fetch(context, error));
        }
        let work = remote.local_work(worktree).await.map_err(|error| CatalogError::fetch(context, error))?;
        if work.exists() && !self.force {
            return Err(CatalogError::rule_with_hint(
                format!(
                    "Switching remote for worktree '{}' would delete uncommitted changes or untracked files, aborting...",
                    worktree.display()
                ),
                "discard them with `--force`",
            ));
        }
        fs::remove_dir_all(worktree).map_err(|error| CatalogError::disk("replace", worktree, error))?;
        let checked_out = remote.worktree(commit, worktree, self.changes_policy()).await;
        checked_out.map(|_| ()).map_err(|error| CatalogError::fetch(context, error))
    }

    fn changes_policy(&self) -> LocalChangesPolicy {
        if self.force { LocalChangesPolicy::Discard } else { LocalChangesPolicy::Refuse }
    }
}

/// Returns the printed forms of a commit.
pub(crate) async fn commit_id(remote: &GitRemote, commit: &GitCommit) -> CommitId {
    CommitId { full: commit.as_str().to_owned(), short: remote.abbreviate(commit, SHORT_HASH_DIGITS).await }
}

/// Returns the error for a version that the repository does not have, or any other error with its context.
pub(crate) fn unknown_version(
    error: repository::Error,
    context: &str,
    version: &str,
    is_new: bool,
) -> CatalogError {
    let repository::Error::Git(failed) = &error else { return CatalogError::fetch(context, error) };
    let hints = match &failed.failure {
        GitFailure::UnknownTreeIsh { suggestions, .. } => {
            suggestions.iter().map(|name| format!("did you mean `{name}`?")).collect()
        }
        GitFailure::InvalidTreeIsh { .. } | GitFailure::Ambiguous { .. } => Vec::new(),
        _ => return CatalogError::fetch(context, error),
    };
    let prefix = if context.is_empty() { String::new() } else { format!("{context}: ") };
    let message = if is_new {
        format!("{prefix}Failed to checkout revision '{version}'")
    } else {
        format!("{prefix}Revision '{version}' not found in repository")
    };
    CatalogError::Rule { message, hints }
}

/// True if Git failed in a certain way.
fn has_failed(error: &repository::Error, is_such: fn(&GitFailure) -> bool) -> bool {
    matches!(error, repository::Error::Git(failed) if is_such(&failed.failure))
}

fn is_foreign(failure: &GitFailure) -> bool {
    matches!(failure, GitFailure::ForeignFolder { .. })
}

fn is_local_changes(failure: &GitFailure) -> bool {
    matches!(failure, GitFailure::LocalChanges { .. })
}
