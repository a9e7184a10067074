use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use api::Version;
use url::Url;

use crate::{
    CaBundle, CredentialSources, Error, Event, EventSink, File, FolderIndex, Hosts, LockSettings,
    ProxySettings, Secret, Store, StoreSettings,
    cache::Cache,
    credential::Found,
    git::{self, GitSettings},
    github::ReleaseAssets,
    http,
    oci::{Artifact, Registries},
    tls::Identity,
};

/// Everything that decides how hosts are talked to. All of it is handed in; nothing is read from the environment.
#[derive(Clone)]
pub struct Settings {
    /// Token for `github.com` (`GITHUB_TOKEN`); goes to no other host.
    pub github_token: Option<Secret>,
    /// Tokens for GitHub Enterprise servers by host (and port, if the url has one).
    pub github_enterprise_tokens: BTreeMap<String, Secret>,
    /// Token for GitLab (`GITLAB_ACCESS_TOKEN`); goes to hosts whose name starts with `gitlab.`.
    pub gitlab_token: Option<Secret>,
    /// Tokens for GitLab by host, with its port where it has one; they come before the other.
    pub gitlab_tokens: BTreeMap<String, Secret>,
    /// `GOPROXY` as Go reads it; none or blank is the public proxy.
    pub goproxy: Option<String>,
    /// Proxies.
    pub proxy: ProxySettings,
    /// PEM bundles of certificates that are trusted for all hosts, besides those of the system.
    pub ca_bundles: Vec<CaBundle>,
    /// More trusted certificates, each a PEM bundle.
    pub extra_roots: Vec<Vec<u8>>,
    /// Whether the certificates of the system are trusted.
    pub system_roots: bool,
    /// Host names that are not looked up but found at this address; port 0 keeps that of the url.
    pub resolve: BTreeMap<String, SocketAddr>,
    /// When to give up.
    pub timeouts: Timeouts,
    /// When to try again.
    pub retry: RetryPolicy,
    /// The largest file that is taken.
    pub max_file_bytes: u64,
    /// What is sent as `User-Agent`.
    pub user_agent: String,
    /// Whether hosts may be asked at all.
    pub network: Network,
    /// Who hears what is going on.
    pub events: Option<EventSink>,
    /// What is set for single hosts.
    pub hosts: Hosts,
    /// Files and programs that know credentials.
    pub credentials: CredentialSources,
    /// Where files are kept between runs; none keeps nothing.
    pub store: Option<StoreSettings>,
    /// What is asked for again though it is kept.
    pub refresh: Refresh,
    /// What every file of a provider is checked against.
    pub lock: Option<Arc<LockSettings>>,
    /// Keys whose signature the artifacts of a provider must bear, by its label.
    pub verify_keys: BTreeMap<String, PathBuf>,
    /// The `git` program.
    pub git: GitSettings,
}

/// What hosts are asked about again though it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// What can change: lists of versions, files without a version.
    Changing,
    /// Files of pinned versions too.
    Everything,
}

/// Whether connections are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Where they are needed.
    Allowed,
    /// Never: what is not on this machine is not had, which is an error that says so.
    Forbidden,
}

/// When to give up on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// Without a byte coming in.
    pub idle: Duration,
}

/// When to try again what can pass: 429, 5xx, a lost connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Waits between tries; one try more than there are waits.
    pub waits: Vec<Duration>,
    /// The longest `Retry-After` that is waited for; beyond it the failure is final.
    pub max_retry_after: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            github_token: None,
            github_enterprise_tokens: BTreeMap::new(),
            gitlab_token: None,
            gitlab_tokens: BTreeMap::new(),
            goproxy: None,
            proxy: ProxySettings::default(),
            ca_bundles: Vec::new(),
            extra_roots: Vec::new(),
            system_roots: true,
            resolve: BTreeMap::new(),
            timeouts: Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(30) },
            retry: RetryPolicy {
                waits: vec![Duration::from_millis(500), Duration::from_secs(2)],
                max_retry_after: Duration::from_secs(30),
            },
            max_file_bytes: 100_000_000,
            user_agent: concat!("capstan/", env!("CARGO_PKG_VERSION")).to_owned(),
            network: Network::Allowed,
            events: None,
            hosts: Hosts::default(),
            credentials: CredentialSources::default(),
            store: None,
            refresh: Refresh::Changing,
            lock: None,
            verify_keys: BTreeMap::new(),
            git: GitSettings::default(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// What all repositories of one process share: settings, lazily made HTTP clients, answers. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    clients: Mutex<BTreeMap<Identity, Result<reqwest::Client, Error>>>,
    files: Cache<String, File>,
    versions: Cache<String, Arc<[Version]>>,
    releases: Cache<String, Arc<ReleaseAssets>>,
    store: Option<Store>,
    told_of_store: AtomicBool,
    artifacts: Cache<String, Arc<Artifact>>,
    registries: Registries,
    indexes: Cache<String, Option<Arc<FolderIndex>>>,
    credentials: Found,
    git: git::Session,
}

impl Context {
    /// Takes the settings; makes no connection and no client.
    pub fn new(settings: Settings) -> Self {
        Self {
            shared: Arc::new(Shared {
                store: settings.store.clone().map(|store| Store::new(store, settings.events.clone())),
                told_of_store: AtomicBool::new(false),
                git: git::Session::default(),
                settings,
                clients: Mutex::default(),
                files: Cache::default(),
                versions: Cache::default(),
                releases: Cache::default(),
                artifacts: Cache::default(),
                registries: Registries::default(),
                indexes: Cache::default(),
                credentials: Found::default(),
            }),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The largest file that is taken.
    pub fn max_file_bytes(&self) -> u64 {
        self.shared.settings.max_file_bytes
    }

    /// Whether anything was asked of the network yet.
    pub fn used_network(&self) -> bool {
        !self.clients().is_empty()
    }

    /// What is kept on this machine, if anything is.
    pub fn store(&self) -> Option<&Store> {
        self.shared.store.as_ref()
    }

    /// What is known of Git and its remotes.
    pub(crate) fn git(&self) -> &git::Session {
        &self.shared.git
    }

    /// Tells, once, that the store cannot be used as it should; whoever met the failure goes on without.
    pub(crate) fn tell_of_store(&self, error: &Error) {
        if !self.shared.told_of_store.swap(true, Ordering::Relaxed) {
            self.emit(&Event::StoreUnusable { why: api::with_causes(error) });
        }
    }

    pub(crate) fn emit(&self, event: &Event) {
        if let Some(events) = &self.shared.settings.events {
            events(event);
        }
    }

    /// Lets nothing pass where no connection may be made.
    /// # Errors
    /// [`Error::Offline`], with what was wanted.
    pub(crate) fn check_network(&self, wanted: &str) -> Result<(), Error> {
        match self.shared.settings.network {
            Network::Allowed => Ok(()),
            Network::Forbidden => Err(Error::Offline { wanted: wanted.to_owned() }),
        }
    }

    /// The client for the host of a url; hosts that nothing is set for share one.
    /// # Errors
    /// What is wrong with the certificates and proxies that are set.
    pub(crate) fn client(&self, url: &Url) -> Result<reqwest::Client, Error> {
        let settings = &self.shared.settings;
        let identity = Identity::of(settings.hosts.get(url));
        let mut clients = self.clients();
        let known = clients.get(&identity).cloned();
        known.unwrap_or_else(|| {
            let client = http::make_client(settings, &identity);
            clients.insert(identity, client.clone());
            client
        })
    }

    fn clients(&self) -> MutexGuard<'_, BTreeMap<Identity, Result<reqwest::Client, Error>>> {
        self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The proxy a request goes through, if any.
    pub(crate) fn proxy(&self, url: &Url) -> Option<Url> {
        let settings = &self.shared.settings;
        settings.proxy.for_host(url, settings.hosts.get(url))
    }

    /// Files by address.
    pub(crate) fn files(&self) -> &Cache<String, File> {
        &self.shared.files
    }

    /// Version lists by address of the repository.
    pub(crate) fn versions(&self) -> &Cache<String, Arc<[Version]>> {
        &self.shared.versions
    }

    /// Assets of releases by address of the release.
    pub(crate) fn releases(&self) -> &Cache<String, Arc<ReleaseAssets>> {
        &self.shared.releases
    }

    /// Artifacts by address.
    pub(crate) fn artifacts(&self) -> &Cache<String, Arc<Artifact>> {
        &self.shared.artifacts
    }

    /// What is known of registries.
    pub(crate) fn registries(&self) -> &Registries {
        &self.shared.registries
    }

    /// Indexes of web folders by address; none where a folder has none.
    pub(crate) fn indexes(&self) -> &Cache<String, Option<Arc<FolderIndex>>> {
        &self.shared.indexes
    }

    /// What files and programs said about credentials.
    pub(crate) fn found_credentials(&self) -> &Found {
        &self.shared.credentials
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}
