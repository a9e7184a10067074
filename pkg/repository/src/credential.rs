use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::header::HeaderValue;

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
    pub(crate) fn header(&self) -> Option<HeaderValue> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_prints_its_user_and_never_its_password() {
        let password = Secret::new("netrc", "hunter2").unwrap();
        let basic = Credential::Basic { user: "ann".to_owned(), password };
        assert_eq!(
            format!("{basic} {basic:?}"),
            "user `ann` of netrc (***) Credential(user `ann` of netrc (***))"
        );
        let header = basic.header().unwrap();
        assert_eq!((header.to_str().unwrap(), header.is_sensitive()), ("Basic YW5uOmh1bnRlcjI=", true));
    }

    #[test]
    fn a_token_with_a_line_end_in_it_makes_no_header() {
        let token = Secret::new("GITHUB_TOKEN", "one\r\nx-injected: two").unwrap();
        assert_eq!(Credential::from(token).header(), None);
    }
}
