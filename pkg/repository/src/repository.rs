use std::fmt;

use api::{Version, VersionOrLatest};
use futures::future::BoxFuture;

use crate::{Error, File};

/// The releases of one provider in any kind of repository.
pub trait Repository: fmt::Debug + Send + Sync {
    /// The version in the provider url, without any I/O. Use [`crate::latest_version`] to resolve `latest`.
    /// # Errors
    /// Fails if the version is neither a semantic version nor `latest`, or is `latest` and the host cannot list
    /// versions.
    fn default_version(&self) -> Result<VersionOrLatest, Error>;

    /// All versions, oldest first, including pre-releases. Each version is spelled as its tag or folder.
    /// # Errors
    /// [`Error::CannotList`] if the host has no list (GitLab packages); any failure of a read or a request.
    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>>;

    /// Reads one file of one release. `version` is a version with or without `v`, never `latest`.
    /// # Errors
    /// [`Error::is_not_found`] if the release or the file does not exist; any failure of a read or a request.
    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>>;

    /// The names of the files of a release, sorted. For display only; reading a file does not need them.
    /// # Errors
    /// [`Error::CannotList`] if the host has no list (GitLab packages); [`Error::UnknownRelease`]; any failure of a read or
    /// a request.
    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>>;

    /// The name of the components file, which is the last part of the url.
    fn components_file(&self) -> &str;

    /// The location of the releases for messages: a folder or a url without version and file.
    fn display_address(&self) -> String;
}

/// Parses the version of a provider url.
/// # Errors
/// [`Error::DefaultVersion`] if the version is neither a semantic version nor `latest`.
pub(crate) fn default_version(repository: &impl Repository, version: &str) -> Result<VersionOrLatest, Error> {
    VersionOrLatest::parse(version).map_err(|_| Error::DefaultVersion {
        version: version.to_owned(),
        place: repository.display_address(),
    })
}

/// Returns the versions of a repository, which must have one.
/// # Errors
/// [`Error::NoVersions`] with the names that are no versions.
pub(crate) fn require_versions(
    repository: &impl Repository,
    versions: Vec<Version>,
    ignored: Vec<String>,
) -> Result<Vec<Version>, Error> {
    if versions.is_empty() {
        return Err(Error::NoVersions { place: repository.display_address(), ignored });
    }
    Ok(versions)
}
