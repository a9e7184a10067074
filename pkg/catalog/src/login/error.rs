//! Errors of logins.

use std::path::PathBuf;

use api::{ErrorExplanation, Explain, output::ErrorKind};

/// A login that fails.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LoginError {
    #[error("Required OIDC client not set")]
    NoClient,
    #[error("Required OIDC discovery URL not set")]
    NoDiscoveryUrl,
    #[error("`{url}` is not a valid URL")]
    Address { url: String },
    #[error("cannot log in with `{url}`: the connection would not be encrypted")]
    Insecure { url: String },
    #[error("Unable to connect to IDP at {url}")]
    Connect { url: String, source: Box<transport::Error> },
    #[error("IDP returned {status} for {url}{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Status { url: String, status: u16, reason: Option<String> },
    #[error("cannot read the answer of {url}: it is no JSON object")]
    NoJson { url: String },
    #[error("cannot read the answer of {url}: field `{field}` is missing")]
    MissingField { url: String, field: &'static str },
    #[error("the identity provider refused the login: {reason}")]
    Refused { reason: String },
    #[error("cannot use the token cache `{}`", path.display())]
    Cache { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
}

impl Explain for LoginError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoClient => hint("set the client with `--oidc-client` or `COMMODORE_OIDC_CLIENT`"),
            Self::NoDiscoveryUrl => {
                hint("set the URL with `--oidc-discovery-url` or `COMMODORE_OIDC_DISCOVERY_URL`")
            }
            Self::Address { .. } => ErrorExplanation::default().with_kind(ErrorKind::User),
            Self::Insecure { .. } => hint("use an `https://` URL"),
            Self::Connect { source, .. } => ErrorExplanation::cause(&**source),
            Self::NoJson { .. } => ErrorExplanation::hint("check the discovery URL of the identity provider"),
            _ => ErrorExplanation::default(),
        }
    }
}

fn hint(text: &str) -> ErrorExplanation<'_> {
    ErrorExplanation::hint(text).with_kind(ErrorKind::User)
}
