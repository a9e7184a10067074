//! How Git reaches a host: as the user has set it up, with what is configured here for that host.

use std::{ffi::OsString, path::Path};

use transport::{CaBundle, ClientCertificate, Credential, HostProxy, Purpose};
use url::Url;

use super::{Remote, Transport, program::Run};
use crate::Error;

/// Asks this process for the credential; the program gets it by its environment, so that no list of processes shows it.
/// The host that is asked for is checked by Git, after redirects too: another one does not get it.
const HELPER: &str = "!f() { test \"$1\" = get && \
    printf 'username=%s\\npassword=%s\\n' \"$CAPSTAN_GIT_USER\" \"$CAPSTAN_GIT_PASSWORD\"; }; f";

/// What is configured here for the host of a remote.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    /// Sent when the host asks for one.
    pub(super) credential: Option<Credential>,
    /// What requests go through.
    pub(super) proxy: Option<Url>,
    /// Whether the host is reached past the proxies the user has set for Git.
    past_proxies: bool,
    /// Who is trusted; Git takes one file.
    trusted: Option<CaBundle>,
    /// Shown to a host that wants to know who connects.
    certificate: Option<ClientCertificate>,
}

impl Access {
    /// Looks up what is configured.
    /// # Errors
    /// What stops a look into the files and programs that know credentials.
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

/// A run that may connect to the host of a remote, and to no other kind of place.
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
        // What the user rewrites (`url.….insteadOf`) may be reached by either.
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

/// The credential of ours for the host: the one in the address, else the one that is known for it. Nothing goes out in
/// the clear.
async fn configured(remote: &Remote) -> Result<Option<Credential>, Error> {
    if let Some(credential) = remote.url.credential() {
        return Ok(Some(credential.clone()));
    }
    match remote.url.http().filter(|url| url.scheme() == "https") {
        Some(url) => Ok(remote.context.credential_for(&url, Purpose::File(remote.named_by)).await?),
        None => Ok(None),
    }
}

/// A token in the form that hosts take it from Git: as the password of a user whose name they ignore.
/// Source: GitHub, "Authenticating as an installation"; GitLab, "Clone using a token".
fn as_password(credential: &Credential) -> Credential {
    match credential {
        Credential::Bearer(token) => Credential::Basic { user: "oauth2".to_owned(), password: token.clone() },
        Credential::Basic { .. } => credential.clone(),
    }
}

/// Puts our credential for this host in the place of all helpers of the user; without one they are asked.
fn credential_options(remote: &Remote, access: &Access) -> Vec<OsString> {
    let Some(url) = remote.url.http() else { return Vec::new() };
    let origin = url.origin().ascii_serialization();
    let settings = match (&access.credential, remote.url.user()) {
        // The empty one takes away those before it: what is configured here wins, and no helper is told to keep it.
        (Some(_), _) => {
            vec![format!("credential.{origin}.helper="), format!("credential.{origin}.helper={HELPER}")]
        }
        (None, Some(user)) => vec![format!("credential.{origin}.username={user}")],
        (None, None) => Vec::new(),
    };
    settings.into_iter().flat_map(|setting| [OsString::from("-c"), setting.into()]).collect()
}

/// Whether the user has chosen how ssh is called; then it is called so.
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
