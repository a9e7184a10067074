#![expect(missing_docs, reason = "the message of a variant names its fields")]

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use crate::{Credential, Digest, UntrustedCertificate, cache::Miss};

/// The status with which a proxy refuses a request.
pub(crate) const PROXY_REFUSED: u16 = 407;

/// A failure to reach a host or to use the cache. Cheap to clone, because concurrent readers share one error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("`{name}` is not a plain file name of a release")]
    UnsafeName { name: String },
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("cannot write `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("`{}` is a folder, not a file", path.display())]
    IsFolder { path: PathBuf },
    #[error("`{place}` is larger than the limit of {limit_bytes} bytes")]
    TooLarge { place: String, limit_bytes: u64 },
    #[error("cannot set up the HTTP client")]
    Client(#[source] Arc<dyn std::error::Error + Send + Sync>),
    #[error("cannot verify servers: no root certificates of the system were found")]
    SystemRoots(#[source] Arc<dyn std::error::Error + Send + Sync>),
    #[error("cannot use the proxy in `{variable}`: invalid address")]
    Proxy { variable: &'static str },
    #[error("cannot use `{}` from {named_by}: it contains no valid certificates", path.display())]
    CaFile { path: PathBuf, named_by: String },
    #[error("cannot use {credential}: it contains a space, a line break or another invalid character")]
    Credential { credential: Credential },
    #[error("cannot fetch from `{url}`: {reason}")]
    FetchUrl { url: String, reason: &'static str },
    #[error("cannot fetch `{wanted}` in offline mode: it is not cached")]
    Offline { wanted: String },
    #[error(transparent)]
    Request(Arc<RequestError>),
    #[error("cannot use `{}` in the cache", path.display())]
    Store {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("cannot use the cache `{}`: this version does not support its layout `{layout}`", folder.display())]
    NewerStore { folder: PathBuf, layout: String },
    #[error("cannot use `{}` as the cache: it is not empty, and capstan did not create it", folder.display())]
    ForeignStore { folder: PathBuf },
    #[error("`{}` is damaged: its digest is {found}, expected {expected}", path.display())]
    Damaged { path: PathBuf, expected: Digest, found: Digest },
    #[error("cannot fetch `{wanted}` in offline mode: the cached copy is damaged")]
    DamagedOffline { wanted: String },
    #[error("cannot use the client certificate `{}`: {problem}", path.display())]
    ClientCertificate { path: PathBuf, problem: String },
    #[error("cannot read the credentials in `{}`: {problem}", path.display())]
    CredentialFile { path: PathBuf, problem: String },
    #[error("cannot ask `{program}` for the credential of `{server}`: {problem}")]
    CredentialHelper { program: String, server: String, problem: String, named_by: PathBuf },
    #[error("`{place}` has digest {found}, expected {expected}")]
    Digest { place: String, expected: Digest, found: Digest },
    #[error("`{address}` has {}{actual_bytes} bytes, but its manifest says {expected_bytes}", at_least(*expected_bytes, *actual_bytes))]
    Size { address: String, expected_bytes: u64, actual_bytes: u64 },
    #[error("`{address}` has media type `{media_type}`, which is not a manifest or index")]
    MediaType { address: String, media_type: String },
    #[error("the registry returned no upload address for `{address}`")]
    UploadAddress { address: String },
}

/// Never a miss: only the errors of repositories report a missing resource.
impl Miss for Error {
    fn is_miss(&self) -> bool {
        false
    }
}

impl Error {
    /// Returns the failed request. None if the error has another cause.
    pub fn request(&self) -> Option<&RequestError> {
        if let Error::Request(request) = self { Some(request) } else { None }
    }

    /// Returns the status with which a host rejected the request.
    pub fn status(&self) -> Option<u16> {
        match self.request().map(|request| &request.failure) {
            Some(RequestFailure::Unauthorized { status, .. } | RequestFailure::Status { status, .. }) => {
                Some(*status)
            }
            _ => None,
        }
    }

    /// True if the host reported that the resource does not exist. False for a missing token server.
    pub fn is_missing(&self) -> bool {
        matches!(self.status(), Some(404 | 410))
            && self.request().is_some_and(|request| request.action != RequestAction::Authorize)
    }
}

/// A failed request with all known facts.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{url}`")]
pub struct RequestError {
    /// The action of the request.
    pub action: RequestAction,
    /// The address, without credentials.
    pub url: String,
    /// The failure of the last attempt.
    #[source]
    pub failure: RequestFailure,
    /// The credential sent to the host that answered, masked. None if it received no credential.
    pub credential: Option<Credential>,
    /// The host that answered, as `https://HOST`, if it is another one than that of `url`.
    pub redirected_to: Option<String>,
    /// The remaining quota, if the host reported it.
    pub quota: Option<Quota>,
    /// The proxy of the request, without credentials.
    pub proxy: Option<String>,
    /// The `WWW-Authenticate` header of the response.
    pub challenge: Option<String>,
    /// The number of attempts.
    pub attempts: u32,
}

/// The action of a request, as errors name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestAction {
    /// Reads content.
    #[default]
    Fetch,
    /// Writes content, or asks whether it must be written.
    Upload,
    /// Reads a token that another request needs.
    Authorize,
}

impl fmt::Display for RequestAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fetch => "fetch",
            Self::Upload => "upload to",
            Self::Authorize => "get a token from",
        })
    }
}

/// The request quota of a client at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Number of requests allowed per period.
    pub limit: Option<u64>,
    /// Number of requests left in the current period.
    pub remaining: u64,
    /// Start of the next period, in seconds since 1970.
    pub resets_at: Option<u64>,
}

/// The failure of a request.
#[derive(Debug, thiserror::Error)]
pub enum RequestFailure {
    #[error("the {} refused access (status {status}{})", if *status == PROXY_REFUSED { "proxy" } else { "host" }, message_suffix(message.as_deref()))]
    Unauthorized { status: u16, message: Option<String> },
    #[error("the rate limit of the host is reached")]
    RateLimited { status: u16, retry_after: Option<Duration>, secondary: bool },
    #[error("the host answered with status {status}{}", message_suffix(message.as_deref()))]
    Status { status: u16, message: Option<String> },
    #[error("cannot find {host}")]
    UnknownHost {
        host: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot connect to {host}")]
    Connect {
        host: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot establish a trusted connection to {host}")]
    Certificate {
        host: String,
        #[source]
        source: Box<UntrustedCertificate>,
    },
    #[error("{host} requires a client certificate that it trusts")]
    ClientCertificateRequired { host: String },
    #[error("cannot establish a TLS connection to {host}")]
    Tls {
        host: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("no data received for {waited:?}")]
    TimedOut { waited: Duration },
    #[error("received only {received_bytes} bytes within {} seconds", elapsed.as_secs())]
    TooSlow { received_bytes: u64, elapsed: Duration },
    #[error("the response ended early, after {received_bytes} bytes")]
    Truncated { received_bytes: u64, expected_bytes: Option<u64> },
    #[error("the response exceeds the limit of {limit_bytes} bytes")]
    TooLarge { limit_bytes: u64 },
    #[error("received a web page instead of a file")]
    WebPage,
    #[error("cannot parse the response as {what}")]
    InvalidResponse {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the host redirects to a forbidden address: {reason}")]
    Redirect { reason: &'static str },
    #[error("the request failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

fn message_suffix(message: Option<&str>) -> String {
    message.map(|message| format!(": {message}")).unwrap_or_default()
}

impl RequestFailure {
    /// True if the same request may succeed on a retry.
    pub fn is_temporary(&self) -> bool {
        match self {
            RequestFailure::Status { status, .. } => *status >= 500 && *status != 501,
            RequestFailure::RateLimited { status, retry_after, secondary } => {
                retry_after.is_some() || (*secondary && *status == 429)
            }
            RequestFailure::Connect { .. } | RequestFailure::Truncated { .. } => true,
            RequestFailure::Unauthorized { .. }
            | RequestFailure::TimedOut { .. }
            | RequestFailure::TooSlow { .. }
            | RequestFailure::UnknownHost { .. }
            | RequestFailure::Certificate { .. }
            | RequestFailure::ClientCertificateRequired { .. }
            | RequestFailure::Tls { .. }
            | RequestFailure::TooLarge { .. }
            | RequestFailure::WebPage
            | RequestFailure::InvalidResponse { .. }
            | RequestFailure::Redirect { .. }
            | RequestFailure::Other(_) => false,
        }
    }
}

/// Content that is too long is not read completely, so its size is a lower bound.
fn at_least(expected: u64, actual: u64) -> &'static str {
    if actual > expected { "at least " } else { "" }
}
