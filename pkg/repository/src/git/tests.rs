//! Real Git on real repositories: on disk, behind `git http-backend`, and behind a fake ssh.

mod access;
mod clone;
mod commit;
mod create;
mod names;
mod release;
mod submodule;
mod worktree;

use api::with_causes;
use std::path::{Path, PathBuf};

use support::git::{GitForge, GitHost};
use tempfile::TempDir;
use transport::{AddressOrigin, CaBundle, Event, NetworkAccess, RetryPolicy, Settings, StoreSettings};

use super::{CloneStore, GitFailure, GitRemote, GitSettings, RemoteUrl};
use crate::{Error, ReleaseSettings, RepositoryContext, testing::EventLog};

/// A fake forge, and a folder that persists between runs.
struct Lab {
    forge: GitForge,
    kept: TempDir,
    log: EventLog,
}

fn bundle(path: &Path) -> CaBundle {
    CaBundle { path: path.to_owned(), named_by: "a test".to_owned() }
}

impl Lab {
    fn new() -> Self {
        Self { forge: GitForge::new(), kept: tempfile::tempdir().unwrap(), log: EventLog::default() }
    }

    /// The settings of a new run.
    fn settings(&self) -> Settings {
        let mut settings = Settings {
            store: Some(StoreSettings { folder: self.kept.path().join("cache"), max_bytes: u64::MAX }),
            retry: RetryPolicy { waits: Vec::new(), ..Settings::default().retry },
            ..Settings::default()
        };
        self.log.listen(&mut settings);
        settings
    }

    /// The user's environment variables.
    fn git(&self) -> GitSettings {
        GitSettings { variables: self.forge.variables(), ..GitSettings::default() }
    }

    fn context(&self, settings: Settings) -> RepositoryContext {
        with_git(settings, self.git())
    }

    fn run(&self) -> RepositoryContext {
        self.context(self.settings())
    }

    fn offline(&self) -> RepositoryContext {
        self.context(Settings { network: NetworkAccess::Forbidden, ..self.settings() })
    }

    /// Settings of a new run that trusts a host.
    fn trusting(&self, host: &GitHost) -> Settings {
        Settings { ca_bundles: vec![bundle(host.ca_file())], ..self.settings() }
    }

    fn clones(&self) -> PathBuf {
        self.kept.path().join("cache/git")
    }
}

fn with_git(settings: Settings, git: GitSettings) -> RepositoryContext {
    RepositoryContext::with_release_settings(settings, ReleaseSettings { git, ..ReleaseSettings::default() })
}

fn remote(address: impl AsRef<Path>, context: &RepositoryContext) -> GitRemote {
    let url = RemoteUrl::parse(address.as_ref().to_str().unwrap()).unwrap();
    GitRemote::new(url, AddressOrigin::FetchedFile, CloneStore::Cache, context).unwrap()
}

/// The Git failure behind an error.
fn failure(error: &Error) -> &GitFailure {
    match error {
        Error::Git(error) => &error.failure,
        Error::GitProgram(failure) => failure,
        other => panic!("{}", with_causes(other)),
    }
}
