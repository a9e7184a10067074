//! Git runs that connect to a host, combining the user's own Git setup with the capstan settings for that host.

use std::{ffi::OsString, path::Path};

use transport::{CaBundle, ClientCertificate, Credential, HostProxy, RequestPurpose};
use url::Url;

use super::{Remote, Transport, program::Run};
use crate::Error;

/// A credential helper that reads the environment of the process, so that no process list shows the password. Git
/// checks the host, also after redirects, and gives the credential to no other host.
const HELPER: &str = "!f() { test \"$1\" = get && \
    printf 'username=%s\\npassword=%s\\n' \"$CAPSTAN_GIT_USER\" \"$CAPSTAN_GIT_PASSWORD\"; }; f";

/// The capstan settings for the host of a remote.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    /// Sent if the host requests a credential.
    pub(super) credential: Option<Credential>,
    /// The proxy for requests.
    pub(super) proxy: Option<Url>,
    /// True if the proxies of the user's Git setup must be bypassed.
    past_proxies: bool,
    /// Trusted certificates. Git accepts one file.
    trusted: Option<CaBundle>,
    /// Sent if the host requests a client certificate.
    certificate: Option<ClientCertificate>,
}

impl Access {
    /// Looks up the settings for the host of a remote.
    /// # Errors
    /// Any failure to read the files or run the programs that store credentials.
    pub(super) async fn to(remote: &Remote) -> Result<Self, Error> {
        let credential = configured(remote).await?;
        let Some(url) = remote.url.http() else { return Ok(Self { credential, ..Self::default() }) };
        let settings = remote.context.settings();
        let host = settings.hosts.get(&url);
        let of_host = host.and_then(|host| host.ca_bundle.as_ref());
        Ok(Self {
            credential,
            proxy: remote.context.proxy(&url),
            past_proxies: host.is_some_and(|host| host.proxy == HostProxy::Direct),
            trusted: of_host.or(settings.ca_bundles.last()).cloned(),
            certificate: host.and_then(|host| host.client_certificate.clone()),
        })
    }
}

/// Creates a Git run that may connect to the host of a remote, using only the protocols of the remote.
pub(super) async fn run(
    remote: &Remote,
    access: &Access,
    arguments: &[OsString],
    clone: Option<&Path>,
) -> Run {
    let settings = remote.context.settings();
    let mut all = credential_options(remote, access);
    all.extend_from_slice(arguments);
    let run = match clone {
        Some(clone) => Run::on(&remote.context.releases().git, clone, all),
        None => Run::new(&remote.context.releases().git, all),
    };
    let allowed = match remote.url.transport() {
        Transport::File => "file",
        // The user's Git setup may rewrite the url (`url.….insteadOf`) to either protocol.
        Transport::Https | Transport::Ssh => "https:ssh",
        Transport::Http => "http:https:ssh",
    };
    let mut run = run.idle(settings.timeouts.idle).variable("GIT_ALLOW_PROTOCOL", allowed);
    if let Some(Credential::Basic { user, password }) = access.credential.as_ref().map(as_password) {
        run = run.variable("CAPSTAN_GIT_USER", user).secret("CAPSTAN_GIT_PASSWORD", &password);
    }
    if let Some(proxy) = &access.proxy {
        run = run.variable("https_proxy", proxy.as_str()).variable("http_proxy", proxy.as_str());
    }
    if access.past_proxies {
        run = run.variable("no_proxy", "*");
    }
    if let Some(bundle) = access.trusted.as_ref().filter(|_| !has_variable(remote, "GIT_SSL_CAINFO")) {
        run = run.variable("GIT_SSL_CAINFO", &bundle.path);
    }
    if let Some(ours) = &access.certificate {
        run = run.variable("GIT_SSL_CERT", &ours.certificate).variable("GIT_SSL_KEY", &ours.key);
    }
    if remote.url.transport() == Transport::Ssh && !chose_ssh(remote).await {
        run = run.variable("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
    }
    run
}

/// The credential for the host: the one in the url, else the configured one. Configured credentials are sent over https
/// only.
async fn configured(remote: &Remote) -> Result<Option<Credential>, Error> {
    if let Some(credential) = remote.url.credential() {
        return Ok(Some(credential.clone()));
    }
    match remote.url.http().filter(|url| url.scheme() == "https") {
        Some(url) => Ok(remote.context.credential_for(&url, RequestPurpose::File(remote.named_by)).await?),
        None => Ok(None),
    }
}

/// Converts a token to the form that hosts accept from Git: the password of a user whose name they ignore.
/// Source: GitHub, "Authenticating as an installation"; GitLab, "Clone using a token".
fn as_password(credential: &Credential) -> Credential {
    match credential {
        Credential::Bearer(token) => Credential::Basic { user: "oauth2".to_owned(), password: token.clone() },
        Credential::Basic { .. } => credential.clone(),
    }
}

/// Replaces the user's credential helpers by our credential for this host. Without a credential, the helpers stay in
/// use.
fn credential_options(remote: &Remote, access: &Access) -> Vec<OsString> {
    let Some(url) = remote.url.http() else { return Vec::new() };
    let origin = url.origin().ascii_serialization();
    let settings = match (&access.credential, remote.url.user()) {
        // The empty value removes the user's helpers: the configured credential wins, and no helper stores it.
        (Some(_), _) => {
            vec![format!("credential.{origin}.helper="), format!("credential.{origin}.helper={HELPER}")]
        }
        (None, Some(user)) => vec![format!("credential.{origin}.username={user}")],
        (None, None) => Vec::new(),
    };
    settings.into_iter().flat_map(|setting| [OsString::from("-c"), setting.into()]).collect()
}

/// True if the user has configured an ssh command. That command is then used.
async fn chose_ssh(remote: &Remote) -> bool {
    has_variable(remote, "GIT_SSH_COMMAND")
        || has_variable(remote, "GIT_SSH")
        || Run::new(&remote.context.releases().git, ["config", "--get", "core.sshCommand"])
            .output()
            .await
            .is_ok()
}

fn has_variable(remote: &Remote, name: &str) -> bool {
    remote.context.releases().git.variables.iter().any(|(known, _)| known == name)
}
