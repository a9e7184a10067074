mod docker;
mod helper;
mod lookup;
mod netrc;

use std::{fmt, path::PathBuf, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::header::HeaderValue;

pub use lookup::{NamedBy, Purpose};

use crate::Secret;

/// How a request says who makes it. Prints as where it came from, never as what it is.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// A token, sent as it is.
    Bearer(Secret),
    /// A user name and a password.
    Basic {
        /// User name; no secret.
        user: String,
        /// Password, or a token in its place.
        password: Secret,
    },
}

impl Credential {
    /// The part that must not be seen.
    pub fn secret(&self) -> &Secret {
        match self {
            Self::Bearer(secret) | Self::Basic { password: secret, .. } => secret,
        }
    }

    /// The value of the `Authorization` header; none when the credential has characters that no header has.
    pub fn header(&self) -> Option<HeaderValue> {
        let text = match self {
            Self::Bearer(token) => token.fits_a_header().then(|| format!("Bearer {}", token.expose()))?,
            Self::Basic { user, password } => {
                format!("Basic {}", STANDARD.encode(format!("{user}:{}", password.expose())))
            }
        };
        let mut value = HeaderValue::try_from(text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl From<Secret> for Credential {
    fn from(token: Secret) -> Self {
        Self::Bearer(token)
    }
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bearer(token) => token.fmt(f),
            Self::Basic { user, password } => write!(f, "user `{user}` of {password}"),
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({self})")
    }
}

/// Files and programs that know credentials. None of them is looked at before a request is made to a host that nothing
/// nearer knows a credential for.
#[derive(Clone, Debug)]
pub struct CredentialSources {
    /// Files in the form of `~/.docker/config.json`, for registries; the first one that knows the registry counts. One
    /// that is not there knows nothing.
    pub auth_files: Vec<PathBuf>,
    /// Folders the programs are in that those files name.
    pub helper_folders: Vec<PathBuf>,
    /// How long such a program may take.
    pub helper_limit: Duration,
    /// A file in the form of `~/.netrc`, for all hosts but registries.
    pub netrc: Option<PathBuf>,
}

impl Default for CredentialSources {
    fn default() -> Self {
        Self {
            auth_files: Vec::new(),
            helper_folders: Vec::new(),
            helper_limit: Duration::from_secs(30),
            netrc: None,
        }
    }
}
