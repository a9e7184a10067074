//! The flags for the Lieutenant API.

use std::fs;

use catalog::cluster::Lieutenant;
use repository::RepositoryContext;
use transport::Secret;

use super::login::{OidcFlags, known_token};
use crate::{Failure, session::Session};

const API: &str = "Lieutenant API";

/// The address of the API and its token.
#[derive(clap::Args)]
pub(super) struct LieutenantFlags {
    /// Address of the Lieutenant API [default: $COMMODORE_API_URL]
    #[arg(long, value_name = "URL", help_heading = API)]
    api_url: Option<String>,

    /// Token for the API, or its file [default: $COMMODORE_API_TOKEN, else that of a login]
    #[arg(long, value_name = "TOKEN", help_heading = API)]
    api_token: Option<String>,

    #[arg(long, hide = true, value_name = "URL")]
    oidc_discovery_url: Option<String>,

    #[arg(long, hide = true, value_name = "ID")]
    oidc_client: Option<String>,
}

impl LieutenantFlags {
    /// Returns the access to the API.
    pub(super) fn open<'c>(
        &self,
        context: &'c RepositoryContext,
        session: &Session,
    ) -> Result<Lieutenant<'c>, Failure> {
        let environment = session.environment();
        let url =
            self.api_url.as_deref().or_else(|| environment.text("COMMODORE_API_URL")).ok_or_else(|| {
                Failure::user("cannot reach the Lieutenant API: its address is missing")
                    .hint("set the address with `--api-url` or `COMMODORE_API_URL`")
            })?;
        let token = self.api_token.as_deref().or_else(|| environment.text("COMMODORE_API_TOKEN"));
        let token = token.map(|token| read_token(token, session)).transpose()?.flatten();
        let client = OidcFlags {
            oidc_discovery_url: self.oidc_discovery_url.clone(),
            oidc_client: self.oidc_client.clone(),
        };
        let token = token.or_else(|| known_token(url, &client, session));
        Ok(Lieutenant::new(url, token, context))
    }
}

/// Returns a token: the content of a file, or the text itself.
fn read_token(text: &str, session: &Session) -> Result<Option<Secret>, Failure> {
    let path = session.environment().resolve(text);
    let token = if path.is_file() {
        fs::read_to_string(&path).map_err(|error| Failure::io("read", &path, &error))?
    } else {
        text.to_owned()
    };
    Ok(Secret::new("the token of `--api-token`", token))
}
