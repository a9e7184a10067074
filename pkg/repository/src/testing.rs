//! Shared test helpers: contexts that reach a fake host under real names.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use support::host::FakeHost;
use transport::{Event, RetryPolicy, Secret, Settings, Timeouts};

use crate::{Error, File, ReleaseSettings, RepositoryContext};

/// Settings that resolve every name of [`FakeHost::internet`] to the host and retry without delay.
pub(crate) fn settings(host: &FakeHost) -> Settings {
    Settings {
        extra_roots: vec![host.ca_pem().as_bytes().to_vec()],
        system_roots: false,
        resolve: FakeHost::INTERNET.iter().map(|name| ((*name).to_owned(), host.address())).collect(),
        timeouts: Timeouts { connect: Duration::from_secs(20), idle: Duration::from_secs(20) },
        retry: RetryPolicy { waits: vec![Duration::ZERO; 2], max_retry_after: Duration::from_millis(100) },
        ..Settings::default()
    }
}

/// A context with the settings of [`settings`].
pub(crate) fn context(host: &FakeHost) -> RepositoryContext {
    RepositoryContext::new(settings(host))
}

pub(crate) fn github_token() -> Option<Secret> {
    Secret::new("GITHUB_TOKEN", "ghp_for_github_only")
}

pub(crate) fn gitlab_token() -> Option<Secret> {
    Secret::new("GITLAB_ACCESS_TOKEN", "glpat_for_gitlab_only")
}

pub(crate) fn text(file: &File) -> &str {
    std::str::from_utf8(&file.bytes).unwrap()
}

/// Collects events.
#[derive(Clone, Default)]
pub(crate) struct EventLog(Arc<Mutex<Vec<Event>>>);

impl EventLog {
    pub(crate) fn listen(&self, settings: &mut Settings) {
        let events = self.0.clone();
        settings.events = Some(Arc::new(move |event: &Event| {
            events.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        }));
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A context that uses no Go module proxy.
pub(crate) fn without_go_proxy(settings: Settings) -> RepositoryContext {
    with_go_proxy(settings, "off")
}

/// A context that uses these Go module proxies.
pub(crate) fn with_go_proxy(settings: Settings, goproxy: &str) -> RepositoryContext {
    RepositoryContext::with_release_settings(
        settings,
        ReleaseSettings { goproxy: Some(goproxy.to_owned()), ..ReleaseSettings::default() },
    )
}

/// A context with a verification key for the artifacts of a provider.
pub(crate) fn with_key(settings: Settings, label: &str, key: std::path::PathBuf) -> RepositoryContext {
    let verify_keys = [(label.to_owned(), key)].into();
    RepositoryContext::with_release_settings(
        settings,
        ReleaseSettings { verify_keys, ..ReleaseSettings::default() },
    )
}

/// The HTTP status that failed a request.
pub(crate) fn status(error: &Error) -> Option<u16> {
    if let Error::Transport(error) = error { error.status() } else { None }
}
