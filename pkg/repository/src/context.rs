use std::{collections::BTreeMap, fmt, ops::Deref, path::PathBuf, sync::Arc};

use crate::{LockSettings, git::GitSettings};

/// Settings that select and check releases. They do not affect connections to hosts.
#[derive(Clone, Debug, Default)]
pub struct ReleaseSettings {
    /// The value of `GOPROXY` in Go's format. If absent or blank, the public proxy is used.
    pub goproxy: Option<String>,
    /// The lock that every file of a provider is checked against.
    pub lock: Option<Arc<LockSettings>>,
    /// Public keys that must have signed the artifacts of a provider, by provider label.
    pub verify_keys: BTreeMap<String, PathBuf>,
    /// The `git` program.
    pub git: GitSettings,
}

/// Transport and release settings, shared by all repositories of one process. Cheap to clone.
#[derive(Clone, Default)]
pub struct RepositoryContext {
    transport: transport::Context,
    release_settings: Arc<ReleaseSettings>,
}

impl RepositoryContext {
    /// Takes transport settings, with default release settings. Opens no connection and creates no client.
    pub fn new(transport: transport::Settings) -> Self {
        Self::with_release_settings(transport, ReleaseSettings::default())
    }

    /// Takes transport settings and release settings.
    pub fn with_release_settings(transport: transport::Settings, releases: ReleaseSettings) -> Self {
        Self { transport: transport::Context::new(transport), release_settings: Arc::new(releases) }
    }

    /// The settings that select and check releases.
    pub fn release_settings(&self) -> &ReleaseSettings {
        &self.release_settings
    }
}

impl Deref for RepositoryContext {
    type Target = transport::Context;

    fn deref(&self) -> &transport::Context {
        &self.transport
    }
}

impl fmt::Debug for RepositoryContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.transport.fmt(f)
    }
}
