use std::{fmt, path::PathBuf};

use api::{Version, VersionOrLatest};
use bytes::Bytes;
use url::Url;

use crate::{
    Context, Error, HostKind, Location, OciError, folder::Folder, git::GitRepository, github::GitHub,
    gitlab::GitLab, local::Local, oci::Oci,
};

/// A future that can be sent to another thread.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;

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

/// A file and where it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Its content; cheap to clone.
    pub bytes: Bytes,
    /// Where it was found.
    pub origin: Origin,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({} bytes from {})", self.bytes.len(), self.origin)
    }
}

/// Where a file was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the overrides folder.
    Override(PathBuf),
    /// In a local repository.
    Local(PathBuf),
    /// At this address, without credentials.
    Url(String),
    /// In the memory of this process.
    Memory(String),
}

impl Origin {
    /// Whether an override won over the repository.
    pub fn is_override(&self) -> bool {
        matches!(self, Origin::Override(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Override(path) | Origin::Local(path) => path.display().fmt(f),
            Origin::Url(text) | Origin::Memory(text) => f.write_str(text),
        }
    }
}

/// Opens the repository of a provider; nothing is read and no connection made.
/// `label` is the provider label (`infrastructure-aws`), or `cert-manager`; `kind` says what an https host is, else what
/// is set for the host does.
/// # Errors
/// [`Error::Location`] when the url has none of the known forms; [`OciError::VerifyNeedsRegistry`] when a signature is
/// asked for where none can be.
pub fn open(
    url: &str,
    label: &str,
    kind: Option<HostKind>,
    context: &Context,
) -> Result<Box<dyn Repository>, Error> {
    let kind_of_host = || context.settings().hosts.get(&Url::parse(url).ok()?)?.kind;
    let location = Location::parse(url, label, kind.or_else(kind_of_host))
        .map_err(|source| Error::Location { url: crate::http::shown_text(url), source })?;
    if context.settings().verify_keys.contains_key(label) && !matches!(location, Location::Oci(_)) {
        return Err(OciError::VerifyNeedsRegistry { label: label.to_owned() }.into());
    }
    Ok(match location {
        Location::Local(location) => Box::new(Local::new(location, context.max_file_bytes())),
        Location::GitHub(location) => Box::new(GitHub::new(location, context.clone())),
        Location::GitLab(location) => Box::new(GitLab::new(location, context.clone())),
        Location::Folder(location) => Box::new(Folder::new(location, context.clone())),
        Location::Oci(location) => Box::new(Oci::new(location, context)),
        Location::Git(location) => {
            let opened = GitRepository::new(location, context.clone());
            Box::new(opened.map_err(|source| Error::Remote { url: crate::http::shown_text(url), source })?)
        }
    })
}
