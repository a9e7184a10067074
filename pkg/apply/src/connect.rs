//! Connections to a server: address, credentials, proxies and impersonation.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Uri, header};
use kube::{
    client::AuthError,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};

mod clients;
mod error;
mod fence;
mod inline;

pub(crate) use clients::CONNECT_TIMEOUT;
use clients::Clients;
pub use error::ConnectError;
pub(crate) use fence::Fence;
pub use inline::InlineKubeconfigError;

/// The start of the panic with which the client refuses a token that is no header value.
pub const INVALID_TOKEN: &str = "token is not valid header";

/// The address of a server, the credentials and the user to act as.
#[derive(Clone, Debug)]
pub struct ConnectionOptions {
    /// The source of the address and the credentials.
    pub credentials: Credentials,
    /// The user to act as with these credentials.
    pub impersonation: Option<Impersonation>,
    /// The user agent for the server's log, such as `capstan/0.1.0 (linux/amd64)`.
    pub user_agent: String,
}

/// The source of an address and credentials.
#[derive(Clone)]
pub enum Credentials {
    /// A context of a kubeconfig; the context exists.
    Kubeconfig {
        /// The kubeconfig, merged from all files.
        config: Box<Kubeconfig>,
        /// The name of the context.
        context: String,
    },
    /// The service account of the pod that runs this process.
    InCluster,
    /// A connected client, such as the client of a sandbox in this process.
    Client(kube::Client),
}

/// The user to act as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// The name of the user.
    pub user: String,
    /// The groups of the user.
    pub groups: Vec<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kubeconfig { context, .. } => write!(f, "Kubeconfig({context})"),
            Self::InCluster => f.write_str("InCluster"),
            Self::Client(_) => f.write_str("Client"),
        }
    }
}

/// Connected clients and their properties.
#[derive(Clone)]
pub(crate) struct OpenConnection {
    pub(crate) clients: Clients,
    /// The address, without secrets.
    pub(crate) address: Arc<str>,
    /// The address, and the proxy if there is one.
    pub(crate) route: Arc<str>,
    /// The headers of every request: the user agent and the impersonation.
    pub(crate) headers: HeaderMap,
}

impl ConnectionOptions {
    /// Uses a connected client, as its own user.
    pub fn of_client(client: kube::Client, user_agent: &str) -> Self {
        Self {
            credentials: Credentials::Client(client),
            impersonation: None,
            user_agent: user_agent.to_owned(),
        }
    }

    /// Creates clients; the client for requests that write has a fence. Credential plugins run here, on a blocking
    /// thread. No request is sent to the server.
    pub(crate) async fn connect(&self, fence: &Fence) -> Result<OpenConnection, ConnectError> {
        // Another part of the process may have installed a provider before; that provider works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let headers = self.headers()?;
        let mut config = match &self.credentials {
            Credentials::Kubeconfig { config, context } => self.config(config, context).await?,
            Credentials::InCluster => {
                kube::Config::incluster().map_err(|error| self.credentials_error(error.to_string()))?
            }
            Credentials::Client(client) => {
                let address: Arc<str> = "the API server".into();
                let clients = Clients::unfenced_only(client.clone());
                return Ok(OpenConnection { clients, route: address.clone(), address, headers });
            }
        };
        check_tokens(&mut config.auth_info).map_err(|why| self.credentials_error(why))?;
        if self.impersonation.is_some() {
            clear_impersonation(&mut config.auth_info);
        }
        let address = url_without_credentials(&config.cluster_url);
        let proxy = config.proxy_url.as_ref().map(url_without_credentials);
        let route = proxy.map_or_else(|| address.clone(), |proxy| format!("{address} through proxy {proxy}"));
        let clients = self.clients(config, fence.clone()).await?;
        Ok(OpenConnection { clients, address: address.into(), route: route.into(), headers })
    }

    async fn clients(&self, config: kube::Config, fence: Fence) -> Result<Clients, ConnectError> {
        let exec = config.auth_info.exec.clone();
        // A plugin may wait for the user or for a remote server.
        let built = tokio::task::spawn_blocking(move || Clients::new(&config, &fence)).await;
        let (error, problem) = match built {
            Ok(Ok(clients)) => return Ok(clients),
            Ok(Err(kube::Error::Auth(error))) => (error.to_string(), Some(plugin_problem(&error))),
            Ok(Err(error)) => (error.to_string(), None),
            Err(panic) => {
                let text = panic.to_string();
                let problem = text.contains(INVALID_TOKEN).then(|| invalid_token("its token"));
                (text, problem)
            }
        };
        Err(match (problem, exec) {
            (Some(problem), Some(exec)) => ConnectError::Plugin {
                context: self.context().to_owned(),
                command: exec.command.unwrap_or_default(),
                install_hint: exec.install_hint,
                source: problem.into(),
            },
            _ => self.credentials_error(error),
        })
    }

    /// Takes a text, because errors of the client already include their causes.
    fn credentials_error(&self, why: String) -> ConnectError {
        match &self.credentials {
            Credentials::Kubeconfig { .. } => {
                ConnectError::Context { context: self.context().to_owned(), source: why.into() }
            }
            Credentials::InCluster | Credentials::Client(_) => ConnectError::InCluster(why.into()),
        }
    }

    fn context(&self) -> &str {
        match &self.credentials {
            Credentials::Kubeconfig { context, .. } => context,
            Credentials::InCluster | Credentials::Client(_) => "",
        }
    }

    async fn config(&self, kubeconfig: &Kubeconfig, context: &str) -> Result<kube::Config, ConnectError> {
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let config = kube::Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await;
        config.map_err(|error| self.credentials_error(error.to_string()))
    }

    fn headers(&self) -> Result<HeaderMap, ConnectError> {
        let mut headers = HeaderMap::new();
        // An invalid user agent is no reason to fail.
        if let Ok(agent) = HeaderValue::from_str(&self.user_agent) {
            headers.insert(header::USER_AGENT, agent);
        }
        let Some(Impersonation { user, groups }) = &self.impersonation else { return Ok(headers) };
        headers.insert("impersonate-user", header_value(user)?);
        for group in groups {
            headers.append("impersonate-group", header_value(group)?);
        }
        Ok(headers)
    }
}

fn header_value(name: &str) -> Result<HeaderValue, ConnectError> {
    let bad = || ConnectError::Impersonation { name: name.to_owned() };
    if name.is_empty() { Err(bad()) } else { HeaderValue::from_str(name).map_err(|_| bad()) }
}

/// Checks that each token fits into a header, because the client panics or retries otherwise. Removes spaces and line breaks
/// around the token of a file, as kubectl does.
/// Source: client-go 0.36 transport/token_source.go; an inline token with a line break is an error there too.
fn check_tokens(auth: &mut AuthInfo) -> Result<(), String> {
    let from_file = auth.token_file.as_ref().filter(|_| auth.token.is_none());
    // The client reports a file that it cannot read.
    if let Some((path, text)) = from_file.and_then(|path| Some((path, std::fs::read_to_string(path).ok()?))) {
        let token = text.trim();
        check_token(token, &format!("the token in `{path}`"))?;
        if token.len() < text.len() {
            auth.token = Some(token.to_owned().into());
        }
    }
    // Only the serialized form of a kubeconfig shows the token.
    let shown = serde_json::to_value(&*auth).unwrap_or_default();
    if let Some(token) = shown.get("token").and_then(serde_json::Value::as_str) {
        check_token(token, "the token")?;
    }
    let provider = auth.auth_provider.iter().flat_map(|provider| &provider.config);
    provider
        .filter(|(name, _)| name.ends_with("-token"))
        .try_for_each(|(name, token)| check_token(token, &format!("`{name}`")))
}

fn check_token(token: &str, name: &str) -> Result<(), String> {
    let fits = HeaderValue::from_bytes(token.as_bytes()).is_ok();
    fits.then_some(()).ok_or_else(|| invalid_token(name))
}

fn invalid_token(name: &str) -> String {
    format!("{name} contains a line break or another control character")
}

/// Removes the impersonation of the kubeconfig: the caller replaces all of its fields.
fn clear_impersonation(auth: &mut AuthInfo) {
    auth.impersonate = None;
    auth.impersonate_uid = None;
    auth.impersonate_groups = None;
    auth.impersonate_user_extra = None;
}

/// Returns a URL without user, password and query.
fn url_without_credentials(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or("https");
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{}", url.path().trim_end_matches('/'))
}

/// Describes the failure of a plugin. Its standard output is left out, as it may contain a token.
fn plugin_problem(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecStart(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "the program does not exist".to_owned()
        }
        AuthError::AuthExecStart(error) => format!("cannot start the program: {error}"),
        AuthError::AuthExecRun { out, .. } => {
            let stderr = String::from_utf8_lossy(&out.stderr);
            let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
            last.map_or_else(|| format!("{}", out.status), |line| format!("{}: {line}", out.status))
        }
        AuthError::AuthExecParse(_) => "its output is not an ExecCredential".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
