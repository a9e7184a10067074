mod docker;
mod helper;
mod lookup;
mod netrc;

use std::{fmt, path::PathBuf, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::header::HeaderValue;

pub use lookup::{AddressOrigin, RequestPurpose};

use crate::Secret;

/// A credential for requests. `Debug` and `Display` show its source, never its value.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// A bearer token.
    Bearer(Secret),
    /// A user name and a password.
    Basic {
        /// User name; not a secret.
        user: String,
        /// Password, or a token instead of a password.
        password: Secret,
    },
}

impl Credential {
    /// Returns the secret part of the credential.
    pub fn secret(&self) -> &Secret {
        match self {
            Self::Bearer(secret) | Self::Basic { password: secret, .. } => secret,
        }
    }

    /// Returns the value of the `Authorization` header. None if the credential contains invalid characters.
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

/// Files and programs that provide credentials. They are read only before a request to a host without another
/// credential.
#[derive(Clone, Debug)]
pub struct CredentialSources {
    /// Files in the format of `~/.docker/config.json`, for registries. The first file that knows the registry counts;
    /// missing files are ignored.
    pub auth_files: Vec<PathBuf>,
    /// Folders of the credential helpers that the files name.
    pub helper_folders: Vec<PathBuf>,
    /// Timeout of a credential helper.
    pub helper_limit: Duration,
    /// A file in the format of `~/.netrc`, for all hosts except registries.
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
