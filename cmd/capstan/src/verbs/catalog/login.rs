//! Logins with a browser, for all commands that need a token.

use std::time::Duration;

use catalog::login::{LoginError, OidcClient, Provider, TokenCache, Tokens};
use repository::RepositoryContext;
use tokio::time::timeout;
use transport::Secret;

use super::login_callback::Callback;
use crate::{Failure, session::Session, settings::cache_home};

/// The port of the redirect URL that identity providers know.
const PORT: u16 = 18000;
/// The time limit of a request, as for Commodore.
const REQUEST_TIMEOUT_SECONDS: u64 = 5;
/// The time limit for the login in the browser.
const LOGIN_TIMEOUT: Duration = Duration::from_mins(10);

/// The flags of logins.
#[derive(clap::Args)]
pub(crate) struct LoginFlags {
    /// Address of the Lieutenant API [default: $COMMODORE_API_URL]
    #[arg(long, value_name = "URL")]
    api_url: Option<String>,

    #[command(flatten)]
    client: OidcFlags,

    /// Port on this machine for the answer of the login; 0: any free port
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    callback_port: u16,
}

/// The flags of the identity provider.
#[derive(clap::Args)]
pub(super) struct OidcFlags {
    /// Address of the configuration of the identity provider [default: that of the API]
    #[arg(long, value_name = "URL")]
    pub(super) oidc_discovery_url: Option<String>,

    /// Client of the identity provider [default: that of the API]
    #[arg(long, value_name = "ID")]
    pub(super) oidc_client: Option<String>,
}

impl OidcFlags {
    fn client(&self, session: &Session) -> OidcClient {
        let environment = session.environment();
        let text =
            |flag: &Option<String>, variable: Option<&str>| flag.as_deref().or(variable).map(str::to_owned);
        OidcClient {
            id: text(&self.oidc_client, environment.text("COMMODORE_OIDC_CLIENT")),
            discovery_url: text(&self.oidc_discovery_url, environment.text("COMMODORE_OIDC_DISCOVERY_URL")),
        }
    }
}

impl LoginFlags {
    pub(super) fn log_in(&self, session: &mut Session) -> Result<(), Failure> {
        let login = LoginSession::new(self, session)?;
        login.token(session)?;
        session.messages().status(format!("logged in to {}", login.api_url()));
        Ok(())
    }

    pub(super) fn print_token(&self, session: &mut Session) -> Result<(), Failure> {
        let token = LoginSession::new(self, session)?.token(session)?;
        session.printer().write(format!("{}\n", token.expose()))
    }
}

/// The access to the tokens of one API.
pub(super) struct LoginSession {
    api_url: String,
    client: OidcClient,
    cache: TokenCache,
    context: RepositoryContext,
    request_timeout: Duration,
    callback_port: u16,
}

impl LoginSession {
    pub(super) fn new(flags: &LoginFlags, session: &Session) -> Result<Self, Failure> {
        let api_url = flags.api_url.as_deref().or_else(|| session.environment().text("COMMODORE_API_URL"));
        let api_url = api_url.ok_or_else(|| {
            Failure::user("Can't fetch Lieutenant token. Please provide the Lieutenant API URL.")
                .hint("set the address with `--api-url` or `COMMODORE_API_URL`")
        })?;
        Self::of_api(api_url, &flags.client, flags.callback_port, session)
    }

    fn of_api(
        api_url: &str,
        flags: &OidcFlags,
        callback_port: u16,
        session: &Session,
    ) -> Result<Self, Failure> {
        let environment = session.environment();
        let folder = cache_home(environment)
            .ok_or_else(|| Failure::user("cannot find the folder for tokens").hint("set `HOME`"))?;
        let seconds = match environment.text("COMMODORE_REQUEST_TIMEOUT") {
            None => REQUEST_TIMEOUT_SECONDS,
            Some(text) => text.parse().map_err(|_| {
                Failure::user(format!(
                    "invalid value `{text}` of COMMODORE_REQUEST_TIMEOUT: not a number of seconds"
                ))
            })?,
        };
        Ok(Self {
            api_url: api_url.to_owned(),
            client: flags.client(session),
            cache: TokenCache::new(folder.join("commodore").join("token")),
            context: session.repositories()?,
            request_timeout: Duration::from_secs(seconds),
            callback_port,
        })
    }

    pub(super) fn api_url(&self) -> String {
        transport::address::redact_text(&self.api_url)
    }

    /// Returns a kept token, or else a renewed one, or else the token of a new login.
    pub(super) fn token(&self, session: &Session) -> Result<Secret, Failure> {
        let kept = self.cache.get(&self.api_url);
        if let Some(token) = kept.api_token() {
            return Ok(token);
        }
        let tokens = session.block_on(async {
            let provider = self.provider().await?;
            match self.renewed(&provider, &kept, session).await {
                Some(tokens) => Ok(tokens),
                None => self.log_in(&provider, session).await,
            }
        })?;
        self.store(&tokens, session)
    }

    /// Returns a kept or renewed token without a login. None if there is none.
    fn known_token(&self, session: &Session) -> Option<Secret> {
        let kept = self.cache.get(&self.api_url);
        if let Some(token) = kept.api_token() {
            return Some(token);
        }
        if !kept.can_be_renewed() {
            return None;
        }
        let renewed = session.block_on(async {
            let provider = self.provider().await?;
            Ok::<_, Failure>(self.renewed(&provider, &kept, session).await)
        });
        self.store(&renewed.ok().flatten()?, session).ok()
    }

    fn store(&self, tokens: &Tokens, session: &Session) -> Result<Secret, Failure> {
        session.block_on(self.cache.save(&self.api_url, tokens))?;
        tokens.api_token().ok_or_else(|| Failure::user("the identity provider sent a token that has expired"))
    }

    async fn provider(&self) -> Result<Provider, Failure> {
        let mut client = self.client.clone();
        if client == OidcClient::default() {
            client =
                self.limited(async { Ok(OidcClient::of_api(&self.api_url, &self.context).await) }).await?;
        }
        self.limited(Provider::discover(&client, &self.context)).await
    }

    async fn renewed(&self, provider: &Provider, kept: &Tokens, session: &Session) -> Option<Tokens> {
        match self.limited(provider.refresh(kept, &self.context)).await {
            Ok(tokens) => tokens,
            Err(failure) => {
                session.messages().warning(format!("cannot renew the token: {}", failure.one_line()));
                None
            }
        }
    }

    async fn log_in(&self, provider: &Provider, session: &Session) -> Result<Tokens, Failure> {
        let callback = Callback::listen(self.callback_port).await?;
        let login = provider.start(&callback.url())?;
        session.messages().write_plain(&format!("Follow this link to log in:\n\n{}\n\n", login.link));
        let code = timeout(LOGIN_TIMEOUT, callback.code(&login.state)).await.map_err(|_| {
            Failure::user(format!("no login within {} minutes", LOGIN_TIMEOUT.as_secs() / 60))
                .hint("run the command again, and open the link in a browser")
        })??;
        self.limited(provider.exchange(&login, &code, &self.context)).await
    }

    async fn limited<T>(&self, work: impl Future<Output = Result<T, LoginError>>) -> Result<T, Failure> {
        match timeout(self.request_timeout, work).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Failure::user(format!(
                "no answer to the login within {} s",
                self.request_timeout.as_secs()
            ))
            .hint("set another limit with `COMMODORE_REQUEST_TIMEOUT`, in seconds")),
        }
    }
}

/// Returns a token of an earlier login at an API, renewed if it has expired.
pub(super) fn known_token(api_url: &str, flags: &OidcFlags, session: &Session) -> Option<Secret> {
    LoginSession::of_api(api_url, flags, PORT, session).ok()?.known_token(session)
}
