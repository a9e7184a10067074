use std::{collections::BTreeMap, fmt, net::SocketAddr, time::Duration};

use crate::{CaBundle, CredentialSources, EventSink, Hosts, ProxySettings, Secret, StoreSettings};

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
