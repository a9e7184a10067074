use std::{io, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    Credential, Digest, LocationError, NotAsLocked, OciError, UntrustedCertificate,
    git::{GitError, GitFailure, RemoteUrlError},
};

/// Why a repository could not answer. Cheap to clone: concurrent readers of one file share one failure.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A provider url has none of the known forms.
    #[error("provider url `{url}` cannot be used")]
    Location {
        /// The url, without credentials.
        url: String,
        /// What is wrong with it.
        #[source]
        source: LocationError,
    },
    /// A version or file name that would lead out of its release.
    #[error("`{name}` is not a plain name inside a release")]
    UnsafeName {
        /// The name as it was given.
        name: String,
    },
    /// The url names neither a semantic version nor `latest`.
    #[error("`{version}` in the provider url `{place}` is neither a semantic version nor `latest`")]
    DefaultVersion {
        /// What stands where the version belongs.
        version: String,
        /// Where the releases are.
        place: String,
    },
    /// The host has no list of versions.
    #[error("versions in `{place}` cannot be listed; name one")]
    CannotList {
        /// Where the releases are.
        place: String,
    },
    /// The host lists no release with a semantic version.
    #[error("no release with a semantic version in `{place}`")]
    NoVersions {
        /// Where the releases are.
        place: String,
        /// Names that are there and are no semantic versions.
        ignored: Vec<String>,
    },
    /// The metadata of the newest release names a series that has no release.
    #[error("no release {major}.{minor}.x in `{place}`, though its metadata lists that series")]
    EmptySeries {
        /// Where the releases are.
        place: String,
        /// Major number of the series.
        major: u64,
        /// Minor number of the series.
        minor: u64,
        /// The release whose metadata lists it.
        listed_by: String,
    },
    /// There is no such release.
    #[error("no release `{version}` in `{place}`")]
    NoRelease {
        /// The release that was asked for.
        version: String,
        /// Where the releases are.
        place: String,
        /// Releases that are there, oldest first; empty where that is not known.
        available: Vec<String>,
    },
    /// The release has no such file. Where `available` is empty the release itself may be missing too.
    #[error("no file `{file}` in release `{version}` of `{place}`")]
    NoFile {
        /// The file that was asked for.
        file: String,
        /// The release.
        version: String,
        /// Where the releases are.
        place: String,
        /// The path or address that was looked at.
        looked_at: String,
        /// Files the release has; empty where that is not known.
        available: Vec<String>,
    },
    /// A file on this machine could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// A file or folder on this machine could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// A folder stands where a file belongs.
    #[error("`{}` is a folder, not a file", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file is larger than this program takes.
    #[error("`{place}` is larger than the limit of {limit_bytes} bytes")]
    TooLarge {
        /// Path or address.
        place: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// The HTTP client could not be set up.
    #[error("cannot set up the HTTP client")]
    Client(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// A proxy setting is no usable address.
    #[error("`{variable}` does not hold a usable proxy address")]
    Proxy {
        /// The variable it came from.
        variable: &'static str,
    },
    /// A file of trusted certificates is none.
    #[error("`{}`, named by {named_by}, holds no usable certificates", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// The flag, variable or key that names it.
        named_by: String,
    },
    /// A credential has characters that no credential has.
    #[error("{credential} has a blank, a line end or another character that no token has")]
    Credential {
        /// The credential, masked.
        credential: Credential,
    },
    /// An address to fetch from has none of the known forms.
    #[error("cannot fetch from `{url}`: {reason}")]
    FetchUrl {
        /// The address, without credentials.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Something is not on this machine, and no connection may be made.
    #[error("`{wanted}` is not on this machine, and connections are switched off")]
    Offline {
        /// The address, without credentials.
        wanted: String,
    },
    /// A request failed.
    #[error(transparent)]
    Request(Arc<RequestError>),
    /// A file or folder of the cache cannot be read or written.
    #[error("cannot use `{}` of the cache", path.display())]
    Store {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// The cache was made by a newer version of this program, or its version cannot be read.
    #[error("the cache `{}` has the layout `{layout}`, which this version does not know", folder.display())]
    NewerStore {
        /// The folder.
        folder: PathBuf,
        /// What stands where the number of the layout belongs.
        layout: String,
    },
    /// The folder of the cache holds something else.
    #[error("`{}` is no cache of this program and not empty", folder.display())]
    ForeignStore {
        /// The folder.
        folder: PathBuf,
    },
    /// Something in the cache is not what was put there.
    #[error("`{}` is damaged: it has the digest {found}, not {expected}", path.display())]
    Damaged {
        /// The blob.
        path: PathBuf,
        /// Its digest by its name.
        expected: Digest,
        /// Its digest by its content.
        found: Digest,
    },
    /// The copy of something in the cache is damaged, and no connection may be made.
    #[error("the copy of `{wanted}` on this machine is damaged, and connections are switched off")]
    DamagedOffline {
        /// The address, without credentials.
        wanted: String,
    },
    /// Something is not what is locked.
    #[error(transparent)]
    NotAsLocked(#[from] Box<NotAsLocked>),
    /// What a registry keeps cannot be used.
    #[error(transparent)]
    Oci(Box<OciError>),
    /// A client certificate or its key cannot be used.
    #[error("cannot use the client certificate `{}`: {problem}", path.display())]
    ClientCertificate {
        /// The file of the certificate or of the key.
        path: PathBuf,
        /// What is wrong with it; nothing of its content.
        problem: String,
    },
    /// A file with credentials cannot be read as one.
    #[error("cannot read the credentials in `{}`: {problem}", path.display())]
    CredentialFile {
        /// The file.
        path: PathBuf,
        /// What is wrong and where; nothing of its content.
        problem: String,
    },
    /// A program that keeps credentials could not be asked.
    #[error("cannot ask `{program}` for the credential of `{server}`: {problem}")]
    CredentialHelper {
        /// The program, `docker-credential-…`.
        program: String,
        /// The server.
        server: String,
        /// What went wrong: never what it printed as its answer.
        problem: String,
        /// The file that names the program.
        named_by: PathBuf,
    },
    /// Content has another digest than the one it is listed or asked for by.
    #[error("`{place}` came with the digest {found}, not {expected}")]
    Digest {
        /// The address, without credentials.
        place: String,
        /// The digest it must have.
        expected: Digest,
        /// The digest it has.
        found: Digest,
    },
    /// The address of a Git repository cannot be used.
    #[error("the Git repository in `{url}` cannot be used")]
    Remote {
        /// The url, without credentials.
        url: String,
        /// What is wrong with it.
        #[source]
        source: RemoteUrlError,
    },
    /// There is no `git` program that serves.
    #[error("Git repositories cannot be read")]
    GitProgram(#[source] Arc<GitFailure>),
    /// A Git repository did not give what was wanted.
    #[error(transparent)]
    Git(Arc<GitError>),
}

impl From<OciError> for Error {
    fn from(error: OciError) -> Self {
        Self::Oci(Box::new(error))
    }
}

impl Error {
    /// Whether the release or the file is simply not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::NoRelease { .. } | Error::NoFile { .. })
    }

    /// The failed request, if it is one.
    pub fn request(&self) -> Option<&RequestError> {
        if let Error::Request(request) = self { Some(request) } else { None }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        match self.request().map(|request| &request.failure) {
            Some(Failure::Unauthorized { status, .. } | Failure::Status { status, .. }) => Some(*status),
            _ => None,
        }
    }
}

/// A request that failed, with everything known about it.
#[derive(Debug, thiserror::Error)]
#[error("cannot fetch `{url}`")]
pub struct RequestError {
    /// The address, without credentials.
    pub url: String,
    /// What went wrong.
    #[source]
    pub failure: Failure,
    /// The credential that was sent, masked; none when it went out without.
    pub credential: Option<Credential>,
    /// What the host said about the remaining quota.
    pub quota: Option<Quota>,
    /// The proxy it went through, without credentials.
    pub proxy: Option<String>,
    /// What the host asks for to let it pass: its `WWW-Authenticate` header.
    pub challenge: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
}

/// How many requests a host still takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests allowed in one period.
    pub limit: Option<u64>,
    /// Requests left in this period.
    pub remaining: u64,
    /// When the next period starts, seconds since 1970.
    pub resets_at: Option<u64>,
}

/// What went wrong with a request.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The host refuses the credential, or wants one.
    #[error("the host refused access (status {status}{})", said(message.as_deref()))]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// What the host said about it, cut to one line.
        message: Option<String>,
    },
    /// The quota of the host is used up.
    #[error("the rate limit of the host is reached")]
    RateLimited {
        /// 403 or 429.
        status: u16,
        /// How long to wait, when the host said so.
        retry_after: Option<Duration>,
        /// A limit on bursts, not on the number of requests an hour.
        secondary: bool,
    },
    /// Any other status that is no success.
    #[error("the host answered with status {status}{}", said(message.as_deref()))]
    Status {
        /// The status.
        status: u16,
        /// What the host said about it, cut to one line.
        message: Option<String>,
    },
    /// The name of the host is not known.
    #[error("cannot find {host}")]
    UnknownHost {
        /// Host name and port.
        host: String,
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The host could not be reached.
    #[error("cannot connect to {host}")]
    Connect {
        /// Host name and port.
        host: String,
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The host shows a certificate that is not trusted.
    #[error("no trusted connection to {host}")]
    Certificate {
        /// Host name and port.
        host: String,
        /// What it showed, and what is wrong with it.
        #[source]
        source: Box<UntrustedCertificate>,
    },
    /// The host wants a certificate of ours, or does not take the one it was shown.
    #[error("{host} wants a client certificate that it trusts")]
    WantsCertificate {
        /// Host name and port.
        host: String,
    },
    /// The host speaks no TLS, or none that we speak.
    #[error("no TLS connection to {host}")]
    Tls {
        /// Host name and port.
        host: String,
        /// What is wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing came for too long.
    #[error("nothing came for {waited:?}")]
    TimedOut {
        /// The limit that was reached.
        waited: Duration,
    },
    /// Something came, and too little of it.
    #[error("only {received_bytes} bytes came within {} seconds", elapsed.as_secs())]
    TooSlow {
        /// Bytes that arrived.
        received_bytes: u64,
        /// How long they took.
        elapsed: Duration,
    },
    /// The connection ended before the answer did.
    #[error("the answer was cut short after {received_bytes} bytes")]
    Truncated {
        /// Bytes that arrived.
        received_bytes: u64,
        /// Bytes the host had announced.
        expected_bytes: Option<u64>,
    },
    /// The answer is larger than this program takes.
    #[error("the answer is larger than the limit of {limit_bytes} bytes")]
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// A web page came instead of a file: a login page or a captive portal.
    #[error("a web page came instead of a file")]
    WebPage,
    /// The answer is not what this address gives.
    #[error("the answer cannot be read as {what}")]
    Unreadable {
        /// What was expected.
        what: &'static str,
        /// Where it departs.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The host sent the request on to a place it must not go.
    #[error("the host redirects to a place this request must not go: {reason}")]
    Redirect {
        /// Too many hops, or from https to http.
        reason: &'static str,
    },
    /// Anything else that stops a request.
    #[error("the request failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

fn said(message: Option<&str>) -> String {
    message.map(|message| format!(": {message}")).unwrap_or_default()
}

impl Failure {
    /// Whether the same request may succeed a moment later.
    pub fn may_pass(&self) -> bool {
        match self {
            Failure::Status { status, .. } => *status >= 500 && *status != 501,
            Failure::RateLimited { status, retry_after, secondary } => {
                retry_after.is_some() || (*secondary && *status == 429)
            }
            Failure::Connect { .. } | Failure::Truncated { .. } => true,
            Failure::Unauthorized { .. }
            | Failure::TimedOut { .. }
            | Failure::TooSlow { .. }
            | Failure::UnknownHost { .. }
            | Failure::Certificate { .. }
            | Failure::WantsCertificate { .. }
            | Failure::Tls { .. }
            | Failure::TooLarge { .. }
            | Failure::WebPage
            | Failure::Unreadable { .. }
            | Failure::Redirect { .. }
            | Failure::Other(_) => false,
        }
    }
}
