//! Git runs that connect to a host, combining the user's own Git setup with the capstan settings for that host.

use std::{ffi::OsString, path::Path};

use transport::{CaBundle, ClientCertificate, Credential, HostProxy, RequestPurpose};
use url::Url;

use super::{GitRemote, GitTransport, program::GitCommand};
use crate::Error;

/// A credential helper that reads the environment of the process, so that no process list shows the password. Git
/// checks the host, also after redirects, and gives the credential to no other host.
const HELPER: &str = "!f() { test \"$1\" = get && \
    printf 'username=%s\\npassword=%s\\n' \"$CAPSTAN_GIT_USER\" \"$CAPSTAN_GIT_PASSWORD\"; }; f";

/// The capstan settings for the host of a remote.
#[derive(Clone, Debug, Default)]
pub(super) struct GitAccess {
    /// Sent if the host requests a credential.
    pub(super) credential: Option<Credential>,
    /// The proxy for requests.
    pub(super) proxy: Option<Url>,
    /// True if the proxies of the user's Git setup must be bypassed.
    bypass_proxies: bool,
    /// Trusted certificates. Git accepts one file.
    ca_bundle: Option<CaBundle>,
    /// Sent if the host requests a client certificate.
    certificate: Option<ClientCertificate>,
}

impl GitAccess {
    /// Looks up the settings for the host of a remote.
    /// # Errors
    /// Any failure to read the files or run the programs that store credentials.
    pub(super) async fn for_remote(remote: &GitRemote) -> Result<Self, Error> {
        let credential = find_credential(remote).await?;
        let Some(url) = remote.url.http_url() else { return Ok(Self { credential, ..Self::default() }) };
        let settings = remote.context.settings();
        let host = settings.hosts.get(&url);
        let of_host = host.and_then(|host| host.ca_bundle.as_ref());
        Ok(Self {
            credential,
            proxy: remote.context.proxy(&url),
            bypass_proxies: host.is_some_and(|host| host.proxy == HostProxy::Direct),
            ca_bundle: of_host.or(settings.ca_bundles.last()).cloned(),
            certificate: host.and_then(|host| host.client_certificate.clone()),
        })
    }
}

/// Creates a Git run that may connect to the host of a remote, using only the protocols of the remote.
pub(super) async fn network_command(
    remote: &GitRemote,
    access: &GitAccess,
    arguments: &[OsString],
    clone: Option<&Path>,
) -> GitCommand {
    let settings = remote.context.settings();
    let mut all = credential_options(remote, access);
    all.extend_from_slice(arguments);
    let run = match clone {
        Some(clone) => GitCommand::in_clone(&remote.context.release_settings().git, clone, all),
        None => GitCommand::new(&remote.context.release_settings().git, all),
    };
    let allowed = match remote.url.transport() {
        GitTransport::File => "file",
        // The user's Git setup may rewrite the url (`url.….insteadOf`) to another protocol or to a mirror on disk. A
        // redirect of a host cannot lead to a folder.
        GitTransport::Https | GitTransport::Ssh => "https:ssh:file",
        GitTransport::Http => "http:https:ssh:file",
    };
    let mut run = run.idle_timeout(settings.timeouts.idle).variable("GIT_ALLOW_PROTOCOL", allowed);
    if let Some(Credential::Basic { user, password }) = access.credential.as_ref().map(to_basic) {
        run = run.variable("CAPSTAN_GIT_USER", user).secret("CAPSTAN_GIT_PASSWORD", &password);
    }
    if let Some(proxy) = &access.proxy {
        run = run.variable("https_proxy", proxy.as_str()).variable("http_proxy", proxy.as_str());
    }
    if access.bypass_proxies {
        run = run.variable("no_proxy", "*");
    }
    if let Some(bundle) = access.ca_bundle.as_ref().filter(|_| !has_variable(remote, "GIT_SSL_CAINFO")) {
        run = run.variable("GIT_SSL_CAINFO", &bundle.path);
    }
    if let Some(ours) = &access.certificate {
        run = run.variable("GIT_SSL_CERT", &ours.certificate).variable("GIT_SSL_KEY", &ours.key);
    }
    if remote.url.transport() == GitTransport::Ssh && !has_ssh_command(remote).await {
        run = run.variable("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
    }
    run
}

/// The credential for the host: the one in the url, else the configured one. Configured credentials are sent over https
/// only.
async fn find_credential(remote: &GitRemote) -> Result<Option<Credential>, Error> {
    if let Some(credential) = remote.url.credential() {
        return Ok(Some(credential.clone()));
    }
    match remote.url.http_url().filter(|url| url.scheme() == "https") {
        Some(url) => Ok(remote.context.credential_for(&url, RequestPurpose::File(remote.named_by)).await?),
        None => Ok(None),
    }
}

/// Converts a token to the form that hosts accept from Git: the password of a user whose name they ignore.
/// Source: GitHub, "Authenticating as an installation"; GitLab, "Clone using a token".
fn to_basic(credential: &Credential) -> Credential {
    match credential {
        Credential::Bearer(token) => Credential::Basic { user: "oauth2".to_owned(), password: token.clone() },
        Credential::Basic { .. } => credential.clone(),
    }
}

/// Replaces the user's credential helpers by our credential for this host. Without a credential, the helpers stay in
/// use.
fn credential_options(remote: &GitRemote, access: &GitAccess) -> Vec<OsString> {
    let Some(url) = remote.url.http_url() else { return Vec::new() };
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
async fn has_ssh_command(remote: &GitRemote) -> bool {
    has_variable(remote, "GIT_SSH_COMMAND")
        || has_variable(remote, "GIT_SSH")
        || GitCommand::new(&remote.context.release_settings().git, ["config", "--get", "core.sshCommand"])
            .output()
            .await
            .is_ok()
}

fn has_variable(remote: &GitRemote, name: &str) -> bool {
    remote.context.release_settings().git.variables.iter().any(|(known, _)| known == name)
}
