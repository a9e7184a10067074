#![expect(missing_docs, reason = "the message of a variant names its fields")]

use std::sync::Arc;

use transport::Miss;

use crate::{
    LocationError, LockMismatch, OciError,
    git::{GitError, GitFailure, RemoteUrlError},
};

/// Failure of a repository operation. Cheap to clone: concurrent readers of one file share one failure.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A host cannot be reached, or a file cannot be read.
    #[error(transparent)]
    Transport(#[from] transport::Error),
    #[error("cannot use provider URL `{url}`")]
    Location {
        url: String,
        #[source]
        source: LocationError,
    },
    #[error("`{reference}` is not a reference to an artifact")]
    ArtifactReference {
        reference: String,
        #[source]
        source: LocationError,
    },
    #[error("`{version}` in the provider URL `{place}` is neither a semantic version nor `latest`")]
    DefaultVersion { version: String, place: String },
    #[error("cannot list the versions in `{place}`")]
    CannotList { place: String },
    #[error("cannot find a release with a semantic version in `{place}`")]
    NoVersions { place: String, ignored: Vec<String> },
    #[error("cannot find a release {major}.{minor}.x in `{place}`, although its metadata lists that series")]
    EmptySeries { place: String, major: u64, minor: u64, listed_by: String },
    #[error("cannot find release `{version}` in `{place}`")]
    UnknownRelease { version: String, place: String, available: Vec<String> },
    #[error("cannot find file `{file}` in release `{version}` of `{place}`")]
    UnknownFile { file: String, version: String, place: String, looked_at: String, available: Vec<String> },
    /// A provider, version or file differs from the lock.
    #[error(transparent)]
    LockMismatch(#[from] Box<LockMismatch>),
    /// The content of a registry cannot be used.
    #[error(transparent)]
    Oci(Box<OciError>),
    #[error("cannot use the Git repository in `{url}`")]
    RemoteUrl {
        url: String,
        #[source]
        source: RemoteUrlError,
    },
    #[error("cannot read Git repositories")]
    GitProgram(#[source] Arc<GitFailure>),
    /// A Git operation on a remote failed.
    #[error(transparent)]
    Git(Arc<GitError>),
}

impl From<OciError> for Error {
    fn from(error: OciError) -> Self {
        Self::Oci(Box::new(error))
    }
}

impl Miss for Error {
    fn is_miss(&self) -> bool {
        self.is_not_found()
    }
}

impl Error {
    /// True if the release or the file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::UnknownRelease { .. } | Error::UnknownFile { .. })
    }

    /// True if a connection is required but connections are forbidden.
    pub fn is_offline(&self) -> bool {
        matches!(self, Error::Transport(transport::Error::Offline { .. }))
    }

    /// The failed request, if the error comes from one.
    pub fn request(&self) -> Option<&transport::RequestError> {
        if let Error::Transport(error) = self { error.request() } else { None }
    }
}
