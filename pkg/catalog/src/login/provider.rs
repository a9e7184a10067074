//! The identity provider: its endpoints, links for a browser, and requests for tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use manifest::{Map, Value};
use sha2::{Digest as _, Sha256};
use transport::http::{self, Request, RequestBody};
use transport::{Context, RequestFailure};
use uuid::Uuid;

use super::{LoginError, Tokens};

/// The requested claims.
const SCOPE: &str = "openid email profile";

/// The client of an identity provider, from flags or from the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OidcClient {
    /// The id of the client.
    pub id: Option<String>,
    /// The address of the configuration of the provider.
    pub discovery_url: Option<String>,
}

/// An identity provider.
#[derive(Clone, Debug)]
pub struct Provider {
    client: String,
    authorization_endpoint: String,
    token_endpoint: String,
}

/// A login that waits for a code.
#[derive(Clone, Debug)]
pub struct LoginRequest {
    /// The address that the user opens in a browser.
    pub link: String,
    /// The value that the answer must have.
    pub state: String,
    verifier: String,
    redirect_url: String,
}

impl OidcClient {
    /// Reads the client from the root of the API. Without an answer that has one, it is empty.
    pub async fn of_api(api_url: &str, context: &Context) -> Self {
        let scheme = if api_url.contains("://") { "" } else { "https://" };
        let Ok(url) = http::parse_address(&format!("{scheme}{api_url}")) else { return Self::default() };
        let Ok(body) = http::send(context, &Request::get(url)).await else { return Self::default() };
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |path: &str| answer.pointer(path).and_then(Value::as_str).map(str::to_owned);
        Self { id: text("/oidc/clientId"), discovery_url: text("/oidc/discoveryUrl") }
    }
}

impl Provider {
    /// Reads the endpoints of a provider.
    ///
    /// # Errors
    /// The client is not complete, or the provider does not describe its endpoints.
    pub async fn discover(client: &OidcClient, context: &Context) -> Result<Self, LoginError> {
        let id = client.id.clone().ok_or(LoginError::NoClient)?;
        let discovery_url = client.discovery_url.as_deref().ok_or(LoginError::NoDiscoveryUrl)?;
        let answer = send(&get(discovery_url)?, discovery_url, context).await?;
        let endpoint = |field: &'static str| {
            let missing = || LoginError::MissingField { url: shown(discovery_url), field };
            let endpoint = answer.get(field).and_then(Value::as_str).ok_or_else(missing)?;
            get(endpoint).map(|_| endpoint.to_owned())
        };
        Ok(Self {
            client: id,
            authorization_endpoint: endpoint("authorization_endpoint")?,
            token_endpoint: endpoint("token_endpoint")?,
        })
    }

    /// Starts a login. The provider sends the browser to the redirect URL with a code.
    ///
    /// # Errors
    /// The endpoint is no URL.
    pub fn start(&self, redirect_url: &str) -> Result<LoginRequest, LoginError> {
        let random = || format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let (state, verifier) = (random(), random());
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let mut link = get(&self.authorization_endpoint)?.url;
        link.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", redirect_url),
            ("scope", SCOPE),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        Ok(LoginRequest { link: link.into(), state, verifier, redirect_url: redirect_url.to_owned() })
    }

    /// Exchanges the code of a login for tokens.
    ///
    /// # Errors
    /// The provider does not answer, or refuses the code.
    pub async fn exchange(
        &self,
        login: &LoginRequest,
        code: &str,
        context: &Context,
    ) -> Result<Tokens, LoginError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", &self.client),
            ("code", code),
            ("redirect_uri", &login.redirect_url),
            ("code_verifier", &login.verifier),
        ];
        self.request_tokens(&fields, context).await
    }

    /// Requests new tokens with the refresh token of earlier ones. None without a valid refresh token.
    ///
    /// # Errors
    /// The provider does not answer, or refuses the token.
    pub async fn refresh(&self, tokens: &Tokens, context: &Context) -> Result<Option<Tokens>, LoginError> {
        let Some(token) = tokens.refresh_token() else { return Ok(None) };
        let fields = [("grant_type", "refresh_token"), ("client_id", &self.client), ("refresh_token", token)];
        self.request_tokens(&fields, context).await.map(Some)
    }

    async fn request_tokens(&self, fields: &[(&str, &str)], context: &Context) -> Result<Tokens, LoginError> {
        let mut request = get(&self.token_endpoint)?;
        // The fields of a form are encoded like a query.
        let mut form = request.url.clone();
        form.set_query(None);
        form.query_pairs_mut().extend_pairs(fields);
        let body = form.query().unwrap_or_default().to_owned();
        request.method = ::http::Method::POST;
        request.body = RequestBody::Bytes(body.into());
        let request = request
            .with_static_header("content-type", "application/x-www-form-urlencoded")
            .with_accept("application/json");
        let tokens = Tokens(send(&request, &self.token_endpoint, context).await?);
        match tokens.field("id_token") {
            Some(_) => Ok(tokens),
            None => Err(LoginError::MissingField { url: shown(&self.token_endpoint), field: "id_token" }),
        }
    }
}

/// Creates a request, whose content nobody else can read.
fn get(text: &str) -> Result<Request, LoginError> {
    let url = http::parse_address(text).map_err(|_| LoginError::Address { url: shown(text) })?;
    let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    match url.scheme() {
        "https" => Ok(Request::get(url)),
        "http" if is_local => Ok(Request::get(url)),
        "http" => Err(LoginError::Insecure { url: shown(text) }),
        _ => Err(LoginError::Address { url: shown(text) }),
    }
}

async fn send(request: &Request, url: &str, context: &Context) -> Result<Map<String, Value>, LoginError> {
    let body = http::send(context, request).await.map_err(|error| failed(error, url))?;
    match serde_json::from_slice(&body) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(LoginError::NoJson { url: shown(url) }),
    }
}

fn failed(error: transport::Error, url: &str) -> LoginError {
    let url = shown(url);
    match error.request().map(|request| &request.failure) {
        Some(
            RequestFailure::Unauthorized { status, message } | RequestFailure::Status { status, message },
        ) => LoginError::Status { url, status: *status, reason: message.clone() },
        _ => LoginError::Connect { url, source: Box::new(error) },
    }
}

fn shown(url: &str) -> String {
    transport::address::redact_text(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_of_a_login_is_the_hash_of_its_verifier() {
        let provider = Provider {
            client: "cli".to_owned(),
            authorization_endpoint: "https://sso.example.org/auth?realm=a".to_owned(),
            token_endpoint: String::new(),
        };
        let [one, other] = [(); 2].map(|()| provider.start("http://localhost:18000").unwrap());
        assert_ne!((&one.state, &one.verifier), (&other.state, &other.verifier));
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&one.verifier));
        assert!(
            one.link.contains(&format!("&code_challenge={challenge}&code_challenge_method=S256")),
            "{}",
            one.link
        );
        assert!(!one.link.contains(&one.verifier));
    }
}
