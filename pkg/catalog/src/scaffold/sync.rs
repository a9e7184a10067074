//! Updates components and packages on GitHub, each by a pull request.

use std::path::Path;

use regex::Regex;
use repository::git::{GitAuthor, LocalChangesPolicy};
use serde_json::Value;
use transport::Secret;

use super::github::{GitHub, HostedRepository, status};
use super::template::CRUFT_FILE;
use super::{DependencyKind, DependencyUpdate, ScaffoldRun, ValueChanges, update};
use crate::dependencies::Fetcher;
use crate::error::CatalogError;
use crate::step::Step;
use crate::yaml::read_documents;

/// A component or package on GitHub.
#[derive(Clone, Copy, Debug)]
pub struct SyncRequest<'a> {
    /// Component or package, with its words.
    pub kind: DependencyKind,
    /// The repository, as `organization/name`.
    pub repository: &'a str,
    /// The version of the template; none for that of the last update.
    pub template_version: Option<&'a str>,
    /// Shows the changes only.
    pub dry_run: bool,
    /// The branch of the pull request, which is replaced.
    pub branch: &'a str,
    /// The labels of the pull request.
    pub labels: &'a [String],
    /// The token for the API of GitHub.
    pub token: &'a Secret,
    /// The author of the commit; none for the user of Git.
    pub author: Option<&'a GitAuthor>,
}

/// The result for one repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncResult {
    /// There is no such repository, or it has no template.
    Skipped,
    /// The template has no changes.
    Unchanged,
    /// A pull request was created or updated, or would be.
    Changed,
}

/// Reads a YAML list of repositories, in the form `organization/name`. Only those that match the filter, a regular expression, are returned.
///
/// # Errors
/// The file is no list of such names.
pub fn read_repositories(path: &Path, filter: Option<&str>) -> Result<Vec<String>, CatalogError> {
    let filter = filter
        .map(Regex::new)
        .transpose()
        .map_err(|error| CatalogError::rule(format!("cannot use the filter of repositories: {error}")))?;
    let text = std::fs::read_to_string(path).map_err(|error| CatalogError::disk("read", path, error))?;
    let shown = path.display();
    let documents = read_documents(&text)
        .map_err(|error| CatalogError::rule(format!("Failed to parse YAML in '{shown}': {error}")))?;
    let Some(Value::Array(items)) = documents.first() else {
        return Err(CatalogError::rule_with_hint(
            format!("Expected a list in '{shown}', but got something else"),
            "list the repositories, one as `- organization/name`",
        ));
    };
    let mut names = Vec::new();
    for item in items {
        let name = item.as_str().filter(|name| is_repository(name)).ok_or_else(|| {
            CatalogError::rule_with_hint(
                format!("cannot use {item} in '{shown}': it is no repository"),
                "write a repository as `organization/name`",
            )
        })?;
        if filter.as_ref().is_none_or(|filter| filter.is_match(name)) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn is_repository(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_allowed)
    };
    matches!(name.split('/').collect::<Vec<_>>()[..], [owner, repository] if is_part(owner) && is_part(repository))
}

/// Merges the changes of the template into one repository, and creates or updates its pull request.
///
/// # Errors
/// GitHub refuses a request, the repository cannot be cloned or pushed, or the update has conflicts.
pub async fn sync(request: &SyncRequest<'_>, run: ScaffoldRun<'_>) -> Result<SyncResult, CatalogError> {
    let (name, report) = (request.repository, run.report);
    report(Step::Text(format!("Synchronizing {name}")));
    let github = GitHub { context: run.context, token: request.token, repository: name };
    let failed = |error| CatalogError::GitHub { repository: name.to_owned(), source: Box::new(error) };
    let hosted = match github.describe().await.map_err(failed)? {
        None => {
            report(Step::Notice(format!("Repository {name} doesn't exist, skipping...")));
            return Ok(SyncResult::Skipped);
        }
        Some(hosted) if hosted.is_archived => {
            report(Step::Notice(format!("Repository {name} is archived, skipping...")));
            return Ok(SyncResult::Skipped);
        }
        Some(hosted) => hosted,
    };
    let context = format!("while synchronizing {name}");
    let fetcher = Fetcher { folder: run.temporary, context: run.context, force: false };
    let remote = fetcher.remote(&hosted.clone_url, &context)?;
    let git = |error| CatalogError::fetch(context.as_str(), error);
    let commit = remote.resolve(&hosted.default_branch).await.map_err(git)?;
    let folder = run.temporary.root().join("repository");
    remote.worktree(&commit, &folder, LocalChangesPolicy::Refuse).await.map_err(git)?;
    if !folder.join(CRUFT_FILE).is_file() {
        report(Step::Notice(format!("Skipping repo {name} which doesn't have `.cruft.json`")));
        return Ok(SyncResult::Skipped);
    }
    let changes = ValueChanges::default();
    let outcome = update(&request.update(&folder, &changes), run).await?;
    if !outcome.is_changed {
        report(Step::Text(format!("{} {name} already up-to-date", request.kind.title())));
        return Ok(SyncResult::Unchanged);
    }
    if request.dry_run {
        report(Step::Text(format!("Would create or update PR for {name}")));
        return Ok(SyncResult::Changed);
    }
    let commit = remote.head(&folder).await.map_err(git)?;
    remote.replace_branch(&commit, request.branch).await.map_err(git)?;
    let body = remote.commit_message(&folder).await.map_err(git)?;
    let body = body.split_once("\n\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    let action = request.open(&github, &hosted, &body).await.map_err(|error| match status(&error) {
        Some(403 | 404) => CatalogError::rule_with_hint(
            format!("Unable to create or update PR for {name}. Please make sure your GitHub token has permission 'public_repo'"),
            "create a token with this permission, and pass it with `--github-token`",
        ),
        _ => failed(error),
    })?;
    report(Step::Text(format!("PR for {} {name} successfully {action}", request.kind.word())));
    Ok(SyncResult::Changed)
}

impl SyncRequest<'_> {
    fn update<'u>(&'u self, folder: &'u Path, changes: &'u ValueChanges) -> DependencyUpdate<'u> {
        DependencyUpdate {
            kind: self.kind,
            folder,
            template_version: self.template_version,
            values: changes,
            commit: !self.dry_run,
            ignore_template_commit: true,
            author: self.author,
        }
    }

    /// Creates or updates the pull request. Returns the past tense of what was done.
    async fn open(
        &self,
        github: &GitHub<'_>,
        hosted: &HostedRepository,
        body: &str,
    ) -> Result<&'static str, transport::Error> {
        let (number, action) = if let Some(number) = github.pull_request(self.branch).await? {
            github.edit_pull_request(number, body).await?;
            (number, "updated")
        } else {
            let title = format!("Update from {} template", self.kind.word());
            let branches = (self.branch, hosted.default_branch.as_str());
            (github.create_pull_request(&title, body, branches).await?, "created")
        };
        github.add_labels(number, self.labels).await?;
        Ok(action)
    }
}
