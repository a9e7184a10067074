use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    AddressOrigin,
    names::{check_file, check_version},
};

use super::{Clones, Commit, Remote, RemoteUrl, RemoteUrlError, failure::GitFailure};
use crate::{Context, Error, File, GitLocation, GitReference, Origin, Repository, reader};

/// Releases in a Git repository. Each tag that is a semantic version is a release with the files of one folder.
#[derive(Debug)]
pub(crate) struct GitRepository {
    location: GitLocation,
    url: RemoteUrl,
    context: Context,
}

impl GitRepository {
    pub(crate) fn new(location: GitLocation, context: Context) -> Result<Self, RemoteUrlError> {
        Ok(Self { url: RemoteUrl::parse(&location.remote)?, location, context })
    }

    fn remote(&self) -> Result<Remote, Error> {
        Remote::new(self.url.clone(), AddressOrigin::User, Clones::Kept, &self.context)
    }

    /// The versions among the tags, oldest first, and all other tags.
    async fn releases(&self, remote: &Remote) -> Result<(Vec<Version>, Vec<String>), Error> {
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
    async fn commit(&self, remote: &Remote, version: &str) -> Result<(String, Commit), Error> {
        check_version(version)?;
        if let GitReference::At { tree_ish, version: only } = &self.location.reference {
            let same = Version::parse(version).is_ok_and(|wanted| is_same(&wanted, only));
            return if same {
                Ok((tree_ish.clone(), remote.resolve(tree_ish).await?))
            } else {
                Err(self.no_release(version, vec![only.clone()]))
            };
        }
        // Only semantic versions are releases: a branch can change.
        let Ok(wanted) = Version::parse(version) else {
            let (versions, _) = self.releases(remote).await?;
            return Err(self.no_release(version, names(&versions)));
        };
        match remote.resolve(&format!("refs/tags/{version}")).await {
            Ok(commit) => return Ok((version.to_owned(), commit)),
            Err(Error::Git(error)) if error.failure.is_absence() => {}
            Err(error) => return Err(error),
        }
        let (versions, _) = self.releases(remote).await?;
        match versions.iter().find(|found| found.semver() == wanted.semver()) {
            Some(tag) => {
                let tag = tag.as_str();
                Ok((tag.to_owned(), remote.resolve(&format!("refs/tags/{tag}")).await?))
            }
            None => Err(self.no_release(version, names(&versions))),
        }
    }

    async fn read_now(&self, version: &str, file: &str) -> Result<File, Error> {
        check_file(file)?;
        let remote = self.remote()?;
        let (name, commit) = self.commit(&remote, version).await?;
        let path = self.path(file);
        let origin = format!("{}//{path}@{name} ({commit})", remote.shown());
        match remote.read(&commit, &path).await {
            Ok(bytes) => Ok(File { bytes, origin: Origin::Url(origin) }),
            Err(Error::Git(error)) if matches!(error.failure, GitFailure::NoPath { .. }) => {
                Err(Error::NoFile {
                    file: file.to_owned(),
                    version: version.to_owned(),
                    place: self.place(),
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

    fn no_release(&self, version: &str, available: Vec<String>) -> Error {
        Error::NoRelease { version: version.to_owned(), place: self.place(), available }
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
            GitReference::Tag(version) | GitReference::At { version, .. } => version,
        };
        reader::default_version(self, version)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            if let GitReference::At { version, .. } = &self.location.reference {
                return Ok(Version::parse(version).into_iter().collect());
            }
            match self.releases(&self.remote()?).await? {
                (versions, ignored) if versions.is_empty() => {
                    Err(Error::NoVersions { place: self.place(), ignored })
                }
                (versions, _) => Ok(versions),
            }
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        async move {
            let key = format!(
                "{}@{version}",
                transport::address::redact_text(&format!("{}//{}", self.url.address(), self.path(file)))
            );
            self.context.cached_results().get(&key, self.read_now(version, file)).await
        }
        .boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            let remote = self.remote()?;
            let (_, commit) = self.commit(&remote, version).await?;
            remote.files(&commit, &self.location.folder).await
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn place(&self) -> String {
        let remote = transport::address::redact_text(self.url.address());
        match self.location.folder.as_str() {
            "" => remote,
            folder => format!("{remote}//{folder}"),
        }
    }
}
