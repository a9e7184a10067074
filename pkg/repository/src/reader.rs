use std::fmt;

use api::{Version, VersionOrLatest};
use futures::future::BoxFuture;

use crate::{Error, File};

/// One provider's releases, wherever they live.
pub trait Repository: fmt::Debug + Send + Sync {
    /// What the url of the provider asks for; costs nothing, `latest` is resolved by [`crate::latest`].
    /// # Errors
    /// When the url names neither a semantic version nor `latest`, or `latest` where the host cannot list versions.
    fn default_version(&self) -> Result<VersionOrLatest, Error>;

    /// All versions, oldest first, each spelled as its tag or folder is; pre-releases are among them.
    /// # Errors
    /// [`Error::CannotList`] where the host has no list (GitLab packages); what else stops a read or a request.
    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>>;

    /// One file of one release. `version` is pinned: with or without `v`, never `latest`.
    /// # Errors
    /// [`Error::is_not_found`] when the release or the file is not there; what else stops a read or a request.
    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>>;

    /// Names of the files of a release, sorted; for showing what there is, never needed to read one.
    /// # Errors
    /// [`Error::CannotList`] where the host has no list (GitLab packages); [`Error::NoRelease`]; what else stops a read
    /// or a request.
    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>>;

    /// Name of the components file, the last part of the url.
    fn components_file(&self) -> &str;

    /// Where the releases are, for people: a folder or an address without version and file.
    fn place(&self) -> String;
}

/// What a url asks for that has this where the version is.
/// # Errors
/// [`Error::DefaultVersion`] when it is neither a semantic version nor `latest`.
pub(crate) fn default_version(repository: &impl Repository, version: &str) -> Result<VersionOrLatest, Error> {
    VersionOrLatest::parse(version)
        .map_err(|_| Error::DefaultVersion { version: version.to_owned(), place: repository.place() })
}
