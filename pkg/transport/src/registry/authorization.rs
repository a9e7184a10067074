//! Authorization at registries: answers challenges and caches tokens.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde::Deserialize;
use tokio::sync::Mutex;
use url::{Url, form_urlencoded};

use super::{
    Registry,
    challenge::{self, Challenge},
};
use crate::{
    Credential, Error, RequestAction, RequestFailure, Secret,
    cache::Cache,
    credential::RequestPurpose,
    http::{BodySink, MemorySink},
    http::{Request, RequestBody, ResponseHead, receive_into},
};

/// The maximum size of a response from a token server.
const MAX_TOKEN_BYTES: u64 = 1024 * 1024;

/// The user name that marks a password as an identity token. Such a token is exchanged for an access token and never
/// sent to a registry.
const IDENTITY_TOKEN: &str = "<token>";

/// Facts about registries in this process.
#[derive(Default)]
pub(super) struct RegistryState {
    /// Accepted credentials, by registry, repository and access.
    credentials: Mutex<BTreeMap<String, Credential>>,
    /// Base addresses of registries, by host.
    pub(super) base_urls: Cache<Arc<Url>, Error>,
}

/// An access right to a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepositoryAccess {
    Pull,
    Push,
}

impl fmt::Display for RepositoryAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        })
    }
}

#[derive(Deserialize)]
struct TokenResponse {
    token: Option<String>,
    access_token: Option<String>,
}

impl Registry {
    /// Sends an authorized request. After a first 401, answers the challenge of the registry once and retries.
    ///
    /// The future is boxed here, because the state of two requests is large.
    /// # Errors
    /// Errors of the request and of the request for a token.
    pub(super) fn send_authorized<'a>(
        &'a self,
        repository: &'a str,
        access: RepositoryAccess,
        request: &'a Request,
        sink: &'a mut dyn BodySink,
        limit_bytes: u64,
    ) -> BoxFuture<'a, Result<ResponseHead, Error>> {
        async move {
            let key = format!("{}/{repository}:{access}", self.host());
            // The address of an upload may belong to another host, which must not receive the credential.
            let is_own = self.is_registry_url(&request.url).await?;
            let registries = self.context.session::<RegistryState>();
            let known = registries.credentials.lock().await.get(&key).cloned();
            let action = match access {
                RepositoryAccess::Pull => RequestAction::Fetch,
                RepositoryAccess::Push => RequestAction::Upload,
            };
            let request = Request { action, keeps_encoding: true, ..request.clone() };
            let first = request.clone().with_credential(known.clone().filter(|_| is_own));
            let error = match receive_into(&self.context, &first, sink, limit_bytes).await {
                Err(error) if error.status() == Some(401) && is_own => error,
                outcome => return outcome,
            };
            let challenge =
                error.request().and_then(|request| challenge::parse(request.challenge.as_deref()?));
            let Some(challenge) = challenge else { return Err(error) };
            let Some(granted) = self.authorize(key, known, &challenge, repository, access).await? else {
                return Err(error);
            };
            let again = request.with_credential(Some(granted));
            receive_into(&self.context, &again, sink, limit_bytes).await
        }
        .boxed()
    }

    /// Returns a credential for a rejected request, and caches it for later requests.
    async fn authorize(
        &self,
        key: String,
        rejected: Option<Credential>,
        challenge: &Challenge,
        repository: &str,
        access: RepositoryAccess,
    ) -> Result<Option<Credential>, Error> {
        // The lock is held during the request, so only one of several concurrent tasks requests a token.
        let registries = self.context.session::<RegistryState>();
        let mut grants = registries.credentials.lock().await;
        let newer = grants.get(&key).filter(|newer| Some(*newer) != rejected.as_ref());
        if let Some(newer) = newer {
            return Ok(Some(newer.clone()));
        }
        let granted = self.answer_challenge(challenge, repository, access).await?;
        if let Some(granted) = &granted {
            grants.insert(key, granted.clone());
        }
        Ok(granted)
    }

    async fn is_registry_url(&self, url: &Url) -> Result<bool, Error> {
        Ok(self.url("x", "").await?.origin() == url.origin())
    }

    /// Answers a challenge. None without a usable credential or token server.
    async fn answer_challenge(
        &self,
        challenge: &Challenge,
        repository: &str,
        access: RepositoryAccess,
    ) -> Result<Option<Credential>, Error> {
        let registry = self.url(repository, "").await?;
        let credential =
            self.context.credential_for(&registry, RequestPurpose::Registry { repository }).await?;
        let Challenge::Bearer { realm, service, scope } = challenge else {
            return Ok(credential.filter(|credential| identity_token(credential).is_none()));
        };
        // A bearer token of the user is already an access token.
        if let Some(Credential::Bearer(token)) = credential {
            return Ok(Some(Credential::Bearer(token)));
        }
        let Some(url) = Url::parse(realm).ok().filter(|realm| may_contact(realm, &registry)) else {
            return Ok(None);
        };
        let scope = scope.clone().unwrap_or_else(|| format!("repository:{repository}:{access}"));
        let credential = credential.filter(|_| may_receive_password(&url, &registry));
        let request = token_request(url, service.as_deref(), &scope, credential);
        self.fetch_token(request).await.map(Some)
    }

    async fn fetch_token(&self, request: Request) -> Result<Credential, Error> {
        let mut sink = MemorySink::default();
        let request = Request { action: RequestAction::Authorize, ..request };
        receive_into(&self.context, &request, &mut sink, MAX_TOKEN_BYTES).await?;
        let unreadable =
            |source| request.to_error(RequestFailure::InvalidResponse { what: "a token", source });
        let token: TokenResponse =
            serde_json::from_slice(&sink.finish()).map_err(|error| unreadable(Box::new(error).into()))?;
        let text = token.token.filter(|token| !token.is_empty()).or(token.access_token).unwrap_or_default();
        Secret::new(format!("token of {}", self.host()), text)
            .map(Credential::Bearer)
            .ok_or_else(|| unreadable("it is empty".into()))
    }
}

/// Creates the request for a token. The request sends an identity token as a form, a password as a header, or no
/// credential.
/// Source: distribution specification, "Token Authentication" and "OAuth2 Token Authentication".
fn token_request(
    mut url: Url,
    service: Option<&str>,
    scope: &str,
    credential: Option<Credential>,
) -> Request {
    let scope_parameters = service.map(|service| ("service", service)).into_iter().chain([("scope", scope)]);
    let Some(token) = credential.as_ref().and_then(identity_token) else {
        url.query_pairs_mut().extend_pairs(scope_parameters);
        return Request::get(url).with_credential(credential);
    };
    let form = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("grant_type", "refresh_token"), ("client_id", "capstan")])
        .extend_pairs(scope_parameters)
        .append_pair("refresh_token", token.expose())
        .finish();
    let content = RequestBody::Bytes(form.into());
    Request { method: Method::POST, body: content, ..Request::get(url) }
        .with_header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
}

fn identity_token(credential: &Credential) -> Option<&Secret> {
    match credential {
        Credential::Basic { user, password } if user == IDENTITY_TOKEN => Some(password),
        _ => None,
    }
}

/// True if a token server may be contacted: over TLS, or over plain HTTP if the registry uses plain HTTP on the same
/// host.
fn may_contact(realm: &Url, registry: &Url) -> bool {
    realm.scheme() == "https"
        || (realm.scheme() == "http" && registry.scheme() == "http" && realm.host() == registry.host())
}

/// True if the token server may receive the password: the host of the registry, or a host in the same domain, such as
/// `auth.docker.io` for `registry-1.docker.io`. Without this check, a malicious registry could redirect passwords to
/// any host.
fn may_receive_password(realm: &Url, registry: &Url) -> bool {
    let (Some(realm), Some(registry)) = (realm.host_str(), registry.host_str()) else { return false };
    let is_name = |host: &str| host.parse::<std::net::IpAddr>().is_err() && !host.starts_with('[');
    let domain = |host: &str| {
        let mut labels = host.rsplit('.');
        let last = labels.next().unwrap_or_default().to_owned();
        labels.next().map(|label| format!("{label}.{last}"))
    };
    realm == registry
        || (is_name(realm)
            && is_name(registry)
            && domain(realm).is_some()
            && domain(realm) == domain(registry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_only_to_the_domain_of_its_registry() {
        let cases = [
            ("https://auth.docker.io/token", "https://registry-1.docker.io/", true),
            ("https://git.lab/jwt/auth", "https://registry.git.lab:5050/", true),
            ("https://registry/token", "https://registry/", true),
            ("https://evil.example/token", "https://registry.lab/", false),
            ("https://10.0.0.1/token", "https://10.9.0.1/", false),
            ("https://other/token", "https://registry/", false),
        ];
        for (realm, registry, expected) in cases {
            let url = |text: &str| Url::parse(text).unwrap();
            assert_eq!(may_receive_password(&url(realm), &url(registry)), expected, "{realm} for {registry}");
        }
    }

    #[test]
    fn a_token_is_not_requested_over_http_if_the_registry_has_tls() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(!may_contact(&url("http://registry.lab/token"), &url("https://registry.lab/")));
        assert!(may_contact(&url("http://127.0.0.1:1/token"), &url("http://127.0.0.1:2/")));
        assert!(!may_contact(&url("http://10.0.0.1/token"), &url("http://127.0.0.1/")));
    }
}
