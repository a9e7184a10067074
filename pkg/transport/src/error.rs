#![expect(missing_docs, reason = "the message of a variant names its fields")]

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use crate::{Credential, Digest, UntrustedCertificate, cache::Miss};

/// A failure to reach a host or to use the cache. Cheap to clone, because concurrent readers share one error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("`{name}` is not a plain name inside a release")]
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
    #[error("`{variable}` does not hold a usable proxy address")]
    Proxy { variable: &'static str },
    #[error("`{}`, named by {named_by}, holds no usable certificates", path.display())]
    CaFile { path: PathBuf, named_by: String },
    #[error("{credential} has a blank, a line end or another character that no token has")]
    Credential { credential: Credential },
    #[error("cannot fetch from `{url}`: {reason}")]
    FetchUrl { url: String, reason: &'static str },
    #[error("`{wanted}` is not on this machine, and connections are switched off")]
    Offline { wanted: String },
    #[error(transparent)]
    Request(Arc<RequestError>),
    #[error("cannot use `{}` of the cache", path.display())]
    Store {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("the cache `{}` has the layout `{layout}`, which this version does not know", folder.display())]
    NewerStore { folder: PathBuf, layout: String },
    #[error("`{}` is no cache of this program and not empty", folder.display())]
    ForeignStore { folder: PathBuf },
    #[error("`{}` is damaged: it has the digest {found}, not {expected}", path.display())]
    Damaged { path: PathBuf, expected: Digest, found: Digest },
    #[error("the copy of `{wanted}` on this machine is damaged, and connections are switched off")]
    DamagedOffline { wanted: String },
    #[error("cannot use the client certificate `{}`: {problem}", path.display())]
    ClientCertificate { path: PathBuf, problem: String },
    #[error("cannot read the credentials in `{}`: {problem}", path.display())]
    CredentialFile { path: PathBuf, problem: String },
    #[error("cannot ask `{program}` for the credential of `{server}`: {problem}")]
    CredentialHelper { program: String, server: String, problem: String, named_by: PathBuf },
    #[error("`{place}` came with the digest {found}, not {expected}")]
    Digest { place: String, expected: Digest, found: Digest },
    #[error("`{address}` is {}{actual_bytes} bytes, where its manifest says {expected_bytes}", at_least(*expected_bytes, *actual_bytes))]
    Size { address: String, expected_bytes: u64, actual_bytes: u64 },
    #[error("`{address}` is of the media type `{media_type}`, which is not that of a manifest or index here")]
    MediaType { address: String, media_type: String },
    #[error("the registry did not tell where to upload `{address}`")]
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

    /// True if the host reported that the resource does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self.status(), Some(404 | 410))
    }
}

/// A failed request with all known facts.
#[derive(Debug, thiserror::Error)]
#[error("cannot fetch `{url}`")]
pub struct RequestError {
    /// The address, without credentials.
    pub url: String,
    /// The failure.
    #[source]
    pub failure: RequestFailure,
    /// The sent credential, masked. None if the request had no credential.
    pub credential: Option<Credential>,
    /// The remaining quota, if the host reported it.
    pub quota: Option<Quota>,
    /// The proxy of the request, without credentials.
    pub proxy: Option<String>,
    /// The `WWW-Authenticate` header of the response.
    pub challenge: Option<String>,
    /// The number of attempts.
    pub attempts: u32,
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
    #[error("the host refused access (status {status}{})", message_suffix(message.as_deref()))]
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
    #[error("no trusted connection to {host}")]
    Certificate {
        host: String,
        #[source]
        source: Box<UntrustedCertificate>,
    },
    #[error("{host} wants a client certificate that it trusts")]
    ClientCertificateRequired { host: String },
    #[error("no TLS connection to {host}")]
    Tls {
        host: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("nothing came for {waited:?}")]
    TimedOut { waited: Duration },
    #[error("only {received_bytes} bytes came within {} seconds", elapsed.as_secs())]
    TooSlow { received_bytes: u64, elapsed: Duration },
    #[error("the answer was cut short after {received_bytes} bytes")]
    Truncated { received_bytes: u64, expected_bytes: Option<u64> },
    #[error("the answer is larger than the limit of {limit_bytes} bytes")]
    TooLarge { limit_bytes: u64 },
    #[error("a web page came instead of a file")]
    WebPage,
    #[error("the answer cannot be read as {what}")]
    InvalidResponse {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the host redirects to a place this request must not go: {reason}")]
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
