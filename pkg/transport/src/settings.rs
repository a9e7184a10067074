use std::{collections::BTreeMap, fmt, net::SocketAddr, time::Duration};

use crate::{CaBundle, CredentialSources, EventSink, Hosts, ProxySettings, Secret, StoreSettings};

/// Settings for connections to hosts. The caller provides every value; nothing is read from the environment.
#[derive(Clone)]
pub struct Settings {
    /// Token for `github.com` (`GITHUB_TOKEN`); never sent to other hosts.
    pub github_token: Option<Secret>,
    /// Tokens for GitHub Enterprise servers by host (with the port, if the URL has one).
    pub github_enterprise_tokens: BTreeMap<String, Secret>,
    /// Token for GitLab (`GITLAB_ACCESS_TOKEN`); sent to hosts whose name starts with `gitlab.`.
    pub gitlab_token: Option<Secret>,
    /// Tokens for GitLab by host (with the port, if the URL has one). They take precedence over `gitlab_token`.
    pub gitlab_tokens: BTreeMap<String, Secret>,
    /// Proxy settings for all hosts.
    pub proxy: ProxySettings,
    /// PEM bundles of certificates that are trusted for all hosts, in addition to those of the system.
    pub ca_bundles: Vec<CaBundle>,
    /// Additional trusted certificates, each a PEM bundle.
    pub extra_roots: Vec<Vec<u8>>,
    /// True if the system certificates are trusted.
    pub system_roots: bool,
    /// Fixed addresses of host names, instead of a DNS lookup. Port 0 keeps the port of the URL.
    pub resolve: BTreeMap<String, SocketAddr>,
    /// Timeouts of connections.
    pub timeouts: Timeouts,
    /// Retry policy for temporary failures.
    pub retry: RetryPolicy,
    /// Size limit of a file in bytes.
    pub max_file_bytes: u64,
    /// Value of the `User-Agent` header.
    pub user_agent: String,
    /// Permission to connect to hosts.
    pub network: NetworkAccess,
    /// Receiver of events.
    pub events: Option<EventSink>,
    /// Settings of single hosts.
    pub hosts: Hosts,
    /// Files and programs that provide credentials.
    pub credentials: CredentialSources,
    /// Settings of the cache. None disables the cache.
    pub store: Option<StoreSettings>,
    /// Cached content to fetch again.
    pub refresh: Refresh,
}

/// Cached content to fetch again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Content that can change: lists of versions, files without a version.
    Changing,
    /// All content, including files of pinned versions.
    Everything,
}

/// Permission to connect to hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkAccess {
    /// Connections are allowed.
    Allowed,
    /// Connections are forbidden. Content that is not on this machine causes an error.
    Forbidden,
}

/// Timeouts of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Time limit for establishing a connection.
    pub connect: Duration,
    /// Time limit without received bytes.
    pub idle: Duration,
}

/// Retry policy for temporary failures: 429, 5xx, a lost connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Wait times between attempts. The number of attempts is one more than the number of wait times.
    pub waits: Vec<Duration>,
    /// The longest accepted `Retry-After`. If the host requests a longer wait, the failure is final.
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
            network: NetworkAccess::Allowed,
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
