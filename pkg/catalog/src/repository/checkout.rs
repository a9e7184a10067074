//! Worktrees of the repositories with classes.

use std::path::Path;

use crate::dependencies::{CommitId, Fetcher};
use crate::error::CatalogError;

/// A checked-out repository with classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigCheckout {
    pub(crate) url: String,
    /// The revision of the command line, or else the default branch.
    pub(crate) version: String,
    pub(crate) commit: CommitId,
}

/// The branch of a repository without commits.
pub(super) const FIRST_BRANCH: &str = "master";

/// Checks out a revision of a repository, or its default branch.
///
/// # Errors
/// The repository cannot be fetched, or has no such revision.
pub(crate) async fn check_out_config(
    fetcher: Fetcher<'_>,
    url: &str,
    revision: Option<&str>,
    is_override: bool,
    folder: &Path,
) -> Result<ConfigCheckout, CatalogError> {
    let context = format!("While cloning git repository from {}", transport::address::redact_text(url));
    let remote = fetcher.remote(url, &context)?;
    let failed = |error| CatalogError::fetch(context.as_str(), error);
    let default = match revision {
        Some(_) if is_override => None,
        _ => Some(remote.default_branch().await.map_err(failed)?.unwrap_or_else(|| FIRST_BRANCH.to_owned())),
    };
    let revision = revision.or(default.as_deref()).unwrap_or(FIRST_BRANCH);
    // Commodore names the default branch also if the API selects another revision.
    let version = default.as_deref().unwrap_or(revision).to_owned();
    let commit = remote
        .resolve(revision)
        .await
        .map_err(|error| crate::dependencies::unknown_version(error, "", revision, false))?;
    fetcher.check_out(&remote, &commit, folder, &context).await?;
    Ok(ConfigCheckout {
        url: remote.url().address().to_owned(),
        version,
        commit: crate::dependencies::commit_id(&remote, &commit).await,
    })
}

/// Checks that the worktree of an earlier run has no work that a new run would lose.
///
/// # Errors
/// The worktree has changed files, new files, or commits that are not on the remote.
pub(crate) async fn check_local_work(
    fetcher: Fetcher<'_>,
    url: &str,
    folder: &Path,
    name: &str,
) -> Result<(), CatalogError> {
    if !folder.join(".git").exists() {
        return Ok(());
    }
    let context = format!("while checking `{}` for changes", folder.display());
    let remote = fetcher.remote(url, &context)?;
    let work = remote.local_work(folder).await.map_err(|error| CatalogError::fetch(context, error))?;
    if work.exists() { Err(has_local_work(name, folder)) } else { Ok(()) }
}

/// Returns the error of a worktree with work that a new run would lose.
pub(super) fn has_local_work(name: &str, folder: &Path) -> CatalogError {
    CatalogError::rule_with_hint(
        format!(
            "{name} repo has local (uncommitted or unpushed) changes. Please specify `--force` to discard them."
        ),
        format!("commit and push the changes in `{}`", folder.display()),
    )
}
