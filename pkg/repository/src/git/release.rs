use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    AddressOrigin,
    names::{check_file, check_version},
};

use super::{CloneStore, GitCommit, GitRemote, RemoteUrl, RemoteUrlError, failure::GitFailure};
use crate::{Error, File, FileSource, GitLocation, GitReference, Repository, RepositoryContext, repository};

/// Releases in a Git repository. Each tag that is a semantic version is a release with the files of one folder.
#[derive(Debug)]
pub(crate) struct GitRepository {
    location: GitLocation,
    url: RemoteUrl,
    context: RepositoryContext,
}

impl GitRepository {
    pub(crate) fn new(location: GitLocation, context: RepositoryContext) -> Result<Self, RemoteUrlError> {
        Ok(Self { url: RemoteUrl::parse(&location.remote)?, location, context })
    }

    fn remote(&self) -> Result<GitRemote, Error> {
        GitRemote::new(self.url.clone(), AddressOrigin::User, CloneStore::Cache, &self.context)
    }

    /// The versions among the tags, oldest first, and all other tags.
    async fn list_releases(&self, remote: &GitRemote) -> Result<(Vec<Version>, Vec<String>), Error> {
        let (mut versions, mut ignored) = (Vec::new(), Vec::new());
        for tag in remote.tags().await? {
            match Version::parse(&tag) {
                Ok(version) if version.as_str() == tag => versions.push(version),
                _ => ignored.push(tag),
            }
        }
        versions.sort_by(|a, b| a.cmp(b).then_with(|| a.as_str().cmp(b.as_str())));
        Ok((versions, ignored))
    }

    /// The tag and the commit of a version. Version `v1.2.3` also matches the tag `1.2.3`.
    async fn resolve_version(&self, remote: &GitRemote, version: &str) -> Result<(String, GitCommit), Error> {
        check_version(version)?;
        if let GitReference::Pinned { tree_ish, version: only } = &self.location.reference {
            let same = Version::parse(version).is_ok_and(|wanted| is_same(&wanted, only));
            return if same {
                Ok((tree_ish.clone(), remote.resolve(tree_ish).await?))
            } else {
                Err(self.unknown_release(version, vec![only.clone()]))
            };
        }
        // Only semantic versions are releases: a branch can change.
        let Ok(wanted) = Version::parse(version) else {
            let (versions, _) = self.list_releases(remote).await?;
            return Err(self.unknown_release(version, names(&versions)));
        };
        match remote.resolve(&format!("refs/tags/{version}")).await {
            Ok(commit) => return Ok((version.to_owned(), commit)),
            Err(Error::Git(error)) if error.failure.is_not_found() => {}
            Err(error) => return Err(error),
        }
        let (versions, _) = self.list_releases(remote).await?;
        match versions.iter().find(|found| found.semver() == wanted.semver()) {
            Some(tag) => {
                let tag = tag.as_str();
                Ok((tag.to_owned(), remote.resolve(&format!("refs/tags/{tag}")).await?))
            }
            None => Err(self.unknown_release(version, names(&versions))),
        }
    }

    async fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        check_file(file)?;
        let remote = self.remote()?;
        let (name, commit) = self.resolve_version(&remote, version).await?;
        let path = self.path(file);
        let origin = format!("{}//{path}@{name} ({commit})", remote.display_url());
        match remote.read(&commit, &path).await {
            Ok(bytes) => Ok(File { bytes, source: FileSource::Url(origin) }),
            Err(Error::Git(error)) if matches!(error.failure, GitFailure::UnknownPath { .. }) => {
                Err(Error::UnknownFile {
                    file: file.to_owned(),
                    version: version.to_owned(),
                    place: self.display_address(),
                    looked_at: origin,
                    available: remote.files(&commit, &self.location.folder).await.unwrap_or_default(),
                })
            }
            Err(error) => Err(error),
        }
    }

    fn path(&self, file: &str) -> String {
        match self.location.folder.as_str() {
            "" => file.to_owned(),
            folder => format!("{folder}/{file}"),
        }
    }

    fn unknown_release(&self, version: &str, available: Vec<String>) -> Error {
        Error::UnknownRelease { version: version.to_owned(), place: self.display_address(), available }
    }
}

fn is_same(wanted: &Version, text: &str) -> bool {
    Version::parse(text).is_ok_and(|version| version.semver() == wanted.semver())
}

fn names(versions: &[Version]) -> Vec<String> {
    versions.iter().map(|version| version.as_str().to_owned()).collect()
}

impl Repository for GitRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        let version = match &self.location.reference {
            GitReference::Latest => "latest",
            GitReference::Tag(version) | GitReference::Pinned { version, .. } => version,
        };
        repository::default_version(self, version)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            if let GitReference::Pinned { version, .. } = &self.location.reference {
                return Ok(Version::parse(version).into_iter().collect());
            }
            let (versions, ignored) = self.list_releases(&self.remote()?).await?;
            repository::require_versions(self, versions, ignored)
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        async move {
            let key = format!(
                "{}@{version}",
                transport::address::redact_text(&format!("{}//{}", self.url.address(), self.path(file)))
            );
            self.context.cached_results().get(&key, self.read_file(version, file)).await
        }
        .boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            let remote = self.remote()?;
            let (_, commit) = self.resolve_version(&remote, version).await?;
            remote.files(&commit, &self.location.folder).await
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn display_address(&self) -> String {
        let remote = transport::address::redact_text(self.url.address());
        match self.location.folder.as_str() {
            "" => remote,
            folder => format!("{remote}//{folder}"),
        }
    }
}
