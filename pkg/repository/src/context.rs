use std::{collections::BTreeMap, fmt, ops::Deref, path::PathBuf, sync::Arc};

use crate::{LockSettings, git::GitSettings};

/// Everything that decides which releases are read, beside how hosts are reached.
#[derive(Clone, Debug, Default)]
pub struct ReleaseSettings {
    /// `GOPROXY` as Go reads it; none or blank is the public proxy.
    pub goproxy: Option<String>,
    /// The lock that every file of a provider is checked against.
    pub lock: Option<Arc<LockSettings>>,
    /// Keys whose signature the artifacts of a provider must bear, by its label.
    pub verify_keys: BTreeMap<String, PathBuf>,
    /// The `git` program.
    pub git: GitSettings,
}

/// All repositories of one process share it: the way to hosts, and what is asked of releases. Cheap to clone.
#[derive(Clone, Default)]
pub struct Context {
    transport: transport::Context,
    releases: Arc<ReleaseSettings>,
}

impl Context {
    /// Takes the settings of hosts, and asks nothing of releases; makes no connection and no client.
    pub fn new(transport: transport::Settings) -> Self {
        Self::with(transport, ReleaseSettings::default())
    }

    /// The same with what is asked of releases.
    pub fn with(transport: transport::Settings, releases: ReleaseSettings) -> Self {
        Self { transport: transport::Context::new(transport), releases: Arc::new(releases) }
    }

    /// Everything that decides which releases are read.
    pub fn releases(&self) -> &ReleaseSettings {
        &self.releases
    }
}

impl Deref for Context {
    type Target = transport::Context;

    fn deref(&self) -> &transport::Context {
        &self.transport
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.transport.fmt(f)
    }
}
