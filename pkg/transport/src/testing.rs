//! A context that reaches a fake host under real names, and a recorder for its events.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use support::host::FakeHost;

use crate::{Context, Event, RetryPolicy, Settings, Timeouts};

/// Returns settings that resolve every name of [`FakeHost::INTERNET`] to the host and retry without waiting.
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

pub(crate) fn context(host: &FakeHost) -> Context {
    Context::new(settings(host))
}

/// Collects events.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    pub(crate) fn listen(&self, settings: &mut Settings) {
        let log = self.0.clone();
        settings.events = Some(Arc::new(move |event: &Event| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        }));
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
