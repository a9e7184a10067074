use std::{
    collections::BTreeSet,
    fs, io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use futures::FutureExt as _;
use url::Url;

use super::{
    docker::{AuthEntry, AuthFile},
    helper,
    netrc::Netrc,
};
use crate::{
    Context, Credential, Error,
    address::{authority, is_loopback},
    cache::Cache,
    disk::{read_error, read_limited},
};

/// The maximum size of a credential file.
const MAX_CREDENTIAL_FILE_BYTES: u64 = 4 << 20;

/// The origin of an address. Credentials without a fixed host are sent only to hosts that the user names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrigin {
    /// The configuration, the command line, or a local file that one of them names.
    User,
    /// A fetched file.
    FetchedFile,
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug)]
pub enum RequestPurpose<'a> {
    /// A file, an API response, or a Git repository.
    File(AddressOrigin),
    /// A repository of a registry.
    Registry {
        /// Path of the repository, such as `team/providers`.
        repository: &'a str,
    },
}

/// Results of the credential sources. Each source is read only once.
#[derive(Default)]
struct CredentialCache {
    auth_files: OnceLock<Result<Arc<[AuthFile]>, Error>>,
    netrc: OnceLock<Result<Option<Arc<Netrc>>, Error>>,
    /// Results by program and server.
    helpers: Cache<Option<Credential>, Error>,
    /// Hosts that the user has named in this run.
    user_hosts: Mutex<BTreeSet<String>>,
}

impl CredentialCache {
    /// True if the user has named the host in this run, now or earlier.
    fn is_user_host(&self, host: &str, named_by: AddressOrigin) -> bool {
        let mut hosts = self.user_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        match named_by {
            AddressOrigin::User => {
                hosts.insert(host.to_owned());
                true
            }
            AddressOrigin::FetchedFile => hosts.contains(host),
        }
    }
}

impl Context {
    /// Returns the credential for a URL.
    ///
    /// The credential of the host settings takes precedence, then the tokens for GitHub and GitLab. Next are the auth
    /// files for registries and netrc for all other hosts.
    /// If the user is `<token>`, the password is an identity token of a registry, which must be exchanged for an access
    /// token.
    /// None for unencrypted connections, except to this machine, and for URLs with a user.
    /// # Errors
    /// [`Error::Read`], [`Error::CredentialFile`] and [`Error::CredentialHelper`], each with the file.
    pub async fn credential_for(
        &self,
        url: &Url,
        purpose: RequestPurpose<'_>,
    ) -> Result<Option<Credential>, Error> {
        let is_private = url.scheme() == "https" || is_loopback(url);
        if !is_private || !url.username().is_empty() || url.password().is_some() {
            return Ok(None);
        }
        let of_host = self.settings().hosts.get(url).and_then(|host| host.credential.clone());
        if of_host.is_some() {
            return Ok(of_host);
        }
        match purpose {
            RequestPurpose::Registry { repository } => {
                self.registry_credential(&authority(url), repository).await
            }
            RequestPurpose::File(named_by) => {
                let host = authority(url);
                let is_of_user = self.session::<CredentialCache>().is_user_host(&host, named_by);
                match self.token_for(&host, is_of_user) {
                    Some(token) => Ok(Some(token)),
                    None => Ok(self.netrc()?.and_then(|netrc| {
                        let default_login = || netrc.default_login().filter(|_| is_of_user);
                        netrc.login_for(url).or_else(default_login)
                    })),
                }
            }
        }
    }

    /// Returns the token of a host. `GITLAB_ACCESS_TOKEN` is only for hosts with a GitLab name that the user names.
    /// A host that is recognized only by the path of a URL gets only tokens configured for its name. Otherwise, a
    /// configuration file could redirect a token.
    fn token_for(&self, host: &str, is_user_host: bool) -> Option<Credential> {
        let settings = self.settings();
        let for_gitlab =
            || settings.gitlab_token.as_ref().filter(|_| is_user_host && host.starts_with("gitlab."));
        let token = match host {
            "github.com" => settings.github_token.as_ref(),
            _ => settings
                .github_enterprise_tokens
                .get(host)
                .or_else(|| settings.gitlab_tokens.get(host))
                .or_else(for_gitlab),
        };
        token.cloned().map(Credential::from)
    }

    async fn registry_credential(
        &self,
        registry: &str,
        repository: &str,
    ) -> Result<Option<Credential>, Error> {
        for file in self.auth_files()?.iter() {
            let found = match file.entry(registry, repository) {
                Some(AuthEntry::Credential(credential)) => Some(credential),
                Some(AuthEntry::Helper { helper, server }) => {
                    let kept = self.run_helper_once(file, &helper, &server).await?;
                    kept.or_else(|| file.stored_credential(registry, repository))
                }
                None => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    async fn run_helper_once(
        &self,
        file: &AuthFile,
        name: &str,
        server: &str,
    ) -> Result<Option<Credential>, Error> {
        let key = format!("{name} {server}");
        // The future is boxed, because its state is large and few requests need a program.
        let ask = helper::run_helper(&self.settings().credentials, file.path(), name, server).boxed();
        self.session::<CredentialCache>().helpers.get(&key, ask).await
    }

    fn auth_files(&self) -> Result<Arc<[AuthFile]>, Error> {
        let read = || {
            let paths = &self.settings().credentials.auth_files;
            let files = paths.iter().map(|path| match read_limited(path, MAX_CREDENTIAL_FILE_BYTES)? {
                Some(bytes) => AuthFile::parse(path, &bytes).map(Some),
                None => Ok(None),
            });
            files.filter_map(Result::transpose).collect()
        };
        self.session::<CredentialCache>().auth_files.get_or_init(read).clone()
    }

    fn netrc(&self) -> Result<Option<Arc<Netrc>>, Error> {
        let read = || {
            let Some(path) = &self.settings().credentials.netrc else { return Ok(None) };
            match fs::read_to_string(path) {
                Ok(text) => Ok(Some(Arc::new(Netrc::parse(path, &text)))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(read_error(path, error)),
            }
        };
        self.session::<CredentialCache>().netrc.get_or_init(read).clone()
    }
}
