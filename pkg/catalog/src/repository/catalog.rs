//! The repository of a catalog: checkout, update, commit and push.

use std::path::{Path, PathBuf};

use api::error_chain;
use bytes::Bytes;
use repository::git::{GitAuthor, GitCommit, GitRemote, StagedChange};

use super::checkout::{FIRST_BRANCH, has_local_work};
use super::diff::{DiffPolicy, FileChange, diff_text, indented};
use crate::dependencies::Fetcher;
use crate::error::CatalogError;
use crate::folder_update::{UnlistedPolicy, WantedFolder};
use crate::step::{Step, StepSink};
use crate::working_folder::{WorkingFolder, folder_names};

/// The author of commits if Git knows no user.
const DEFAULT_AUTHOR: (&str, &str) = ("Commodore", "commodore@syn.tools");
/// The start of the paths of manifests.
const MANIFESTS: &str = "manifests/";
/// The folders of a catalog that a compilation replaces.
const COMPILED: [&str; 2] = ["manifests", "refs"];
/// The name of a pushed commit until the API has its report.
const UNREPORTED: &str = "unreported";
/// The indentation of changes.
pub(crate) const INDENT: &str = "     ";

/// A catalog and its worktree.
#[derive(Debug)]
pub struct CatalogCheckout {
    remote: GitRemote,
    /// The commit to check out. None in local mode.
    fetched: Option<FetchedCommit>,
    branch: String,
    author: GitAuthor,
    folder: PathBuf,
}

#[derive(Debug)]
struct FetchedCommit {
    commit: GitCommit,
    has_manifests: bool,
}

/// The staged changes of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogChanges {
    /// The changes as text; empty if none is shown.
    pub text: String,
    /// True if files changed, even if no change is shown.
    pub exist: bool,
}

impl CatalogCheckout {
    /// Fetches the default branch of a catalog. An empty repository gets a first commit.
    ///
    /// # Errors
    /// The repository cannot be fetched.
    pub(crate) async fn open(
        fetcher: Fetcher<'_>,
        url: &str,
        author: Option<GitAuthor>,
        report: StepSink<'_>,
    ) -> Result<Self, CatalogError> {
        let context = format!("While cloning git repository from {}", transport::address::redact_text(url));
        let remote = fetcher.remote(url, &context)?;
        let folder = fetcher.folder.catalog();
        let failed = |error| CatalogError::fetch(context.as_str(), error);
        let branch = remote.default_branch().await.map_err(failed)?;
        let author = author_or_known(author, &remote, report).await;
        let commit = if let Some(branch) = &branch {
            remote.resolve(branch).await.map_err(failed)?
        } else {
            report(Step::Notice(format!(
                "Revision '{FIRST_BRANCH}' not found in repository, creating initial commit for {}",
                folder.display()
            )));
            remote.create_empty_commit("Initial commit", &author).await.map_err(failed)?
        };
        let has_manifests = remote.has_path(&commit, COMPILED[0]).await;
        let fetched = Some(FetchedCommit { commit, has_manifests });
        Ok(Self {
            remote,
            fetched,
            branch: branch.unwrap_or_else(|| FIRST_BRANCH.to_owned()),
            author,
            folder,
        })
    }

    /// Uses the catalog in the working folder, without a connection. None if it is no worktree of its bare clone.
    ///
    /// # Errors
    /// The URL of the catalog is not valid.
    pub(crate) async fn local(
        fetcher: Fetcher<'_>,
        url: &str,
        author: Option<GitAuthor>,
        report: StepSink<'_>,
    ) -> Result<Option<Self>, CatalogError> {
        let folder = fetcher.folder.catalog();
        if !folder.join(".git").exists() {
            return Ok(None);
        }
        let remote = fetcher.remote(url, "While opening the catalog")?;
        if !remote.clone_folder().is_dir() {
            return Ok(None);
        }
        let author = author_or_known(author, &remote, report).await;
        Ok(Some(Self { remote, fetched: None, branch: FIRST_BRANCH.to_owned(), author, folder }))
    }

    /// Checks out the fetched commit, and discards all changes. See [`check_catalog`].
    ///
    /// # Errors
    /// Git fails.
    pub(crate) async fn check_out(&self, fetcher: Fetcher<'_>) -> Result<(), CatalogError> {
        let Some(FetchedCommit { commit, .. }) = &self.fetched else { return Ok(()) };
        fetcher.replace_worktree(&self.remote, commit, &self.folder, "cannot check out the catalog").await?;
        let cleaned = self.remote.delete_new_files(&self.folder, &COMPILED).await;
        cleaned.map_err(|error| CatalogError::fetch("cannot check out the catalog", error))
    }

    /// True if the fetched commit has manifests. None in local mode.
    pub(crate) fn has_manifests(&self) -> Option<bool> {
        self.fetched.as_ref().map(|fetched| fetched.has_manifests)
    }

    /// Reads the manifests of the checked-out commit, by their paths in the folder `manifests`.
    ///
    /// # Errors
    /// Git fails.
    pub async fn committed_manifests(&self) -> Result<Vec<(String, Bytes)>, CatalogError> {
        let failed = |error| CatalogError::fetch("cannot read the catalog", error);
        let commit = self.remote.head(&self.folder).await.map_err(failed)?;
        let files = self.remote.read_folder(&commit, "").await.map_err(failed)?;
        let inside =
            |(path, content): (String, Bytes)| Some((path.strip_prefix(MANIFESTS)?.to_owned(), content));
        Ok(files.into_iter().filter_map(inside).collect())
    }

    /// Stages all files, and returns the changes to the last commit.
    ///
    /// # Errors
    /// Git fails.
    pub async fn stage(&self, policy: DiffPolicy) -> Result<CatalogChanges, CatalogError> {
        let staged = staged_changes(&self.remote, &self.folder, policy).await;
        staged.map_err(|error| CatalogError::fetch("cannot stage the catalog", error))
    }

    /// Removes the changes from the index. The files stay as they are.
    ///
    /// # Errors
    /// Git fails.
    pub async fn unstage(&self) -> Result<(), CatalogError> {
        let unstaged = self.remote.unstage(&self.folder).await;
        unstaged.map_err(|error| CatalogError::fetch("cannot reset the catalog", error))
    }

    /// Commits the staged changes, and pushes the commit.
    ///
    /// # Errors
    /// Git fails, or the host rejects the push.
    pub async fn commit_and_push(&self, message: &str, report: StepSink<'_>) -> Result<(), CatalogError> {
        report(Step::Notice("Commiting changes...".to_owned()));
        let commit = self.remote.commit_index(&self.folder, message, &self.author).await;
        let commit = commit.map_err(|error| CatalogError::fetch("cannot commit the catalog", error))?;
        report(Step::Notice("Pushing catalog to remote...".to_owned()));
        let stored = self.remote.store_commit(UNREPORTED, Some(&commit)).await;
        stored.map_err(|error| CatalogError::fetch("cannot commit the catalog", error))?;
        let pushed = self.remote.push(&commit, &self.branch).await;
        pushed.map_err(|source| CatalogError::Push { source: Box::new(source) })?;
        // A failed push leaves no local commit. A failure after the push is no reason to push again.
        if let Err(error) = self.remote.record_push(&self.folder, &commit, &self.branch).await {
            let reasons = error_chain(&error).lines.join(": ");
            report(Step::Warning(format!("The catalog is pushed, but its worktree is outdated: {reasons}")));
        }
        Ok(())
    }

    /// True if this machine has pushed the last commit of the remote, and its report to the API is missing.
    pub async fn is_unreported(&self) -> bool {
        let stored = self.remote.stored_commit(UNREPORTED).await;
        self.fetched.as_ref().is_some_and(|fetched| stored.as_ref() == Some(&fetched.commit))
    }

    /// Stores that the API has the report of the last push.
    pub async fn set_reported(&self) {
        // If this fails, the next push without changes reports once more.
        let _ = self.remote.store_commit(UNREPORTED, None).await;
    }
}

/// Checks that the catalog in the working folder has no work that a new run would lose: commits that are not on the remote,
/// and changes of files that no compilation writes.
///
/// # Errors
/// There is such work.
pub(crate) async fn check_catalog(fetcher: Fetcher<'_>, url: &str) -> Result<(), CatalogError> {
    let folder = fetcher.folder.catalog();
    let context = format!("while checking `{}` for changes", folder.display());
    let has_work = if folder.join(".git").exists() {
        let remote = fetcher.remote(url, &context)?;
        let work = remote.local_work_outside(&folder, &COMPILED).await;
        work.map_err(|error| CatalogError::fetch(context, error))?.exists()
    } else {
        folder_names(&folder)?.iter().any(|name| COMPILED.iter().all(|compiled| name != compiled))
    };
    if has_work { Err(has_local_work("Catalog", &folder)) } else { Ok(()) }
}

/// Copies the compiled files of all instances into a catalog, in the order of their names. If two instances have a file
/// with the same path, the later one has precedence. Deletes all other manifests, except for hidden ones.
pub(crate) fn copy_manifests<'a>(
    folder: &WorkingFolder,
    instances: impl IntoIterator<Item = &'a String>,
) -> Result<(), CatalogError> {
    let mut wanted = WantedFolder::default();
    for compiled in instances.into_iter().map(|instance| folder.compiled().join(instance)) {
        if compiled.is_dir() {
            wanted.add_copy(&compiled)?;
        }
    }
    Ok(wanted.update(&folder.manifests(), folder.root(), UnlistedPolicy::KeepHidden)?)
}

/// Stages all files of a worktree, and returns the changes to the last commit.
///
/// # Errors
/// Git fails.
pub(crate) async fn staged_changes(
    remote: &GitRemote,
    folder: &Path,
    policy: DiffPolicy,
) -> Result<CatalogChanges, repository::Error> {
    let changes = remote.stage(folder).await?;
    let objects: Vec<&str> = changes.iter().flat_map(contents).collect();
    let mut read = remote.read_objects(&objects).await?.into_iter();
    let read: Vec<_> = changes
        .iter()
        .map(|change| {
            let before = change.before.as_ref().and_then(|_| read.next());
            let after = change.after.as_ref().and_then(|_| read.next());
            (change, before, after)
        })
        .collect();
    let files: Vec<_> = read
        .iter()
        .map(|(change, before, after)| FileChange {
            change,
            before: before.as_deref(),
            after: after.as_deref(),
        })
        .collect();
    let text = indented(&diff_text(&files, policy), INDENT);
    Ok(CatalogChanges { text, exist: !changes.is_empty() })
}

/// Returns the objects of a change.
fn contents(change: &StagedChange) -> impl Iterator<Item = &str> {
    change.before.iter().chain(&change.after).map(String::as_str)
}

/// Returns the author of the command line, or else the user of Git.
pub(crate) async fn author_or_known(
    author: Option<GitAuthor>,
    remote: &GitRemote,
    report: StepSink<'_>,
) -> GitAuthor {
    if let Some(author) = author {
        return author;
    }
    if let Some(author) = remote.configured_author().await {
        return author;
    }
    let (name, email) = DEFAULT_AUTHOR;
    report(Step::Notice(format!("Can't determine author information, falling back to `{name} <{email}>`")));
    GitAuthor { name: name.to_owned(), email: email.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // Row: D-444
    #[test]
    fn a_file_of_two_instances_is_that_of_the_later_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = WorkingFolder::new(root.path());
        for (instance, text) in [("b", "later"), ("a", "earlier")] {
            let compiled = folder.compiled().join(instance).join("sub");
            fs::create_dir_all(&compiled).unwrap();
            fs::write(compiled.join("x.yaml"), text).unwrap();
        }
        let names = ["a", "b", "without-files"].map(str::to_owned);
        copy_manifests(&folder, &names).unwrap();
        assert_eq!(fs::read_to_string(folder.manifests().join("sub/x.yaml")).unwrap(), "later");
        fs::write(folder.manifests().join(".keep"), "").unwrap();
        copy_manifests(&folder, &[]).unwrap();
        let left: Vec<_> =
            fs::read_dir(folder.manifests()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [".keep"]);
    }
}
