//! The fetch of one dependency.

use std::io;
use std::path::Path;

use chart::{VersionRange, read_archive};
use repository::git::{CloneStore, GitCommit, GitRemote, LocalChangesPolicy, RemoteUrl};
use repository::{ChartSource, ChartSourceError, RepositoryContext, fetch_file, fetch_packed};
use transport::AddressOrigin;

use super::error::DependencyError;
use super::pinned::PinnedDependency;
use super::settings::Source;
use super::unpack::unpack;
use crate::file_reading::{FolderWalk, LinkPolicy, MAX_FILE_BYTES, WalkError, WalkedEntry, read_file};

/// The folder for files of commits inside a clone.
const TREES_FOLDER: &str = "trees";
/// The maximum size of all files of a repository, of which an entry may need only a folder.
const MAX_TREE_BYTES: u64 = 1 << 30;

/// The files of a folder, by their paths in it.
type Tree = Vec<(String, Vec<u8>)>;

/// Fetched files.
pub(super) enum FetchedFiles {
    File(Vec<u8>),
    Tree(Tree),
}

/// Fetches a dependency, or reads it from the store if it never changes.
pub(super) async fn fetch(
    source: &Source,
    context: &RepositoryContext,
) -> Result<FetchedFiles, DependencyError> {
    let pinned = PinnedDependency::of(source, context);
    if let Some(files) = pinned.as_ref().and_then(PinnedDependency::read) {
        return Ok(files);
    }
    let files = fetch_from_host(source, context).await?;
    if let Some(pinned) = pinned {
        pinned.keep(&files);
    }
    Ok(files)
}

async fn fetch_from_host(
    source: &Source,
    context: &RepositoryContext,
) -> Result<FetchedFiles, DependencyError> {
    let name = source.to_string();
    match source {
        Source::Chart { repository, name: chart, version } => {
            fetch_chart(name, repository, chart, version, context).await
        }
        Source::Http { url, is_unpacked } => {
            let file = fetch_file(context, url, AddressOrigin::User)
                .await
                .map_err(|source| DependencyError::Fetch { name: name.clone(), source: Box::new(source) })?;
            if !is_unpacked {
                return Ok(FetchedFiles::File(file.bytes.to_vec()));
            }
            unpack(&file.bytes)
                .map(FetchedFiles::Tree)
                .map_err(|reason| DependencyError::Content { name, reason })
        }
        Source::Git { url, reference, has_submodules } => {
            fetch_repository(name, url, reference, *has_submodules, context).await.map(FetchedFiles::Tree)
        }
        Source::Artifact { reference } => {
            let packed = fetch_packed(context, reference)
                .await
                .map_err(|source| DependencyError::Fetch { name: name.clone(), source: Box::new(source) })?;
            unpack(&packed.bytes)
                .map(FetchedFiles::Tree)
                .map_err(|reason| DependencyError::Content { name, reason })
        }
    }
}

async fn fetch_chart(
    name: String,
    repository: &str,
    chart: &str,
    version: &str,
    context: &RepositoryContext,
) -> Result<FetchedFiles, DependencyError> {
    let failed = |source| DependencyError::Chart { name: name.clone(), source };
    let content = |reason: String| DependencyError::Content { name: name.clone(), reason };
    let range = VersionRange::parse(version, false).map_err(|error| content(error.to_string()))?;
    let fetched = chart_source(repository, chart)
        .map_err(failed)?
        .fetch(&range, context)
        .await
        .map_err(|source| failed(Box::new(source)))?;
    let files = read_archive(&fetched.bytes).map_err(|error| content(error.to_string()))?;
    let files = files.into_iter().map(|file| (file.path, file.content.as_bytes().to_vec()));
    Ok(FetchedFiles::Tree(files.collect()))
}

/// Returns the source of a chart. The address of a chart in a registry has its name.
pub(super) fn chart_source(repository: &str, chart: &str) -> Result<ChartSource, Box<ChartSourceError>> {
    let source = if repository.starts_with("oci://") {
        ChartSource::parse(repository, None, AddressOrigin::User)
    } else {
        ChartSource::parse(chart, Some(repository), AddressOrigin::User)
    };
    source.map_err(Box::new)
}

async fn fetch_repository(
    name: String,
    url: &str,
    reference: &str,
    has_submodules: bool,
    context: &RepositoryContext,
) -> Result<Tree, DependencyError> {
    let failed = |source| DependencyError::Fetch { name: name.clone(), source: Box::new(source) };
    let parsed = RemoteUrl::parse(url).map_err(|source| {
        failed(repository::Error::RemoteUrl { url: transport::address::redact_text(url), source })
    })?;
    let remote = GitRemote::new(parsed, AddressOrigin::User, CloneStore::Cache, context).map_err(failed)?;
    let commit = remote.resolve(reference).await.map_err(failed)?;
    let mut files = read_commit(&name, &remote, &commit).await?;
    if has_submodules {
        for module in remote.submodules(&commit).await.map_err(failed)? {
            let name = format!("submodule {} of {name}", module.path);
            let failed = |source| DependencyError::Fetch { name: name.clone(), source: Box::new(source) };
            let commit = module.remote.resolve(module.commit.as_str()).await.map_err(failed)?;
            let tree = read_commit(&name, &module.remote, &commit).await?;
            files.extend(tree.into_iter().map(|(path, bytes)| (format!("{}/{path}", module.path), bytes)));
        }
    }
    Ok(files)
}

/// Reads the files of a commit, without those of its submodules.
async fn read_commit(name: &str, remote: &GitRemote, commit: &GitCommit) -> Result<Tree, DependencyError> {
    let folder = remote.clone_folder().join(TREES_FOLDER).join(commit.as_str());
    remote
        .worktree(commit, &folder, LocalChangesPolicy::Discard)
        .await
        .map_err(|source| DependencyError::Fetch { name: name.to_owned(), source: Box::new(source) })?;
    read_tree(&folder).map_err(|WalkError { path, error }| {
        let path = path.strip_prefix(&folder).unwrap_or(&path).display();
        DependencyError::Content { name: name.to_owned(), reason: format!("cannot read `{path}`: {error}") }
    })
}

/// Reads the files of a worktree, without those of Git. Links are followed.
fn read_tree(folder: &Path) -> Result<Tree, WalkError> {
    let is_wanted = |entry: &WalkedEntry| entry.relative != Path::new(".git");
    let (mut files, mut remaining) = (Vec::new(), MAX_TREE_BYTES);
    for entry in FolderWalk::new(folder, LinkPolicy::Follow, &is_wanted)? {
        let entry = entry?;
        if entry.is_folder || !entry.path.is_file() {
            continue;
        }
        let failed = |error| WalkError { path: entry.path.clone(), error };
        let content = read_file(&entry.path, MAX_FILE_BYTES).map_err(failed)?;
        let too_large = || {
            let error = io::Error::other(format!("it has more than {} MiB", MAX_TREE_BYTES >> 20));
            WalkError { path: folder.to_owned(), error }
        };
        remaining = remaining.checked_sub(content.len() as u64).ok_or_else(too_large)?;
        files.push((entry.name(), content));
    }
    Ok(files)
}
