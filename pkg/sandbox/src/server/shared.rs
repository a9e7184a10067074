//! The state that all requests share, with the served custom resource definitions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use serde_json::Value;
use tokio::sync::watch;

use crate::{
    admission::{ServiceWebhooks, Webhooks},
    audit::AuditLog,
    clock::Clock,
    discovery,
    faults::ActiveFaults,
    kinds::{Kinds, ResourceType},
    store::Store,
};

pub(crate) struct Server {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Clock,
    pub(crate) audit: AuditLog,
    pub(crate) faults: ActiveFaults,
    /// Held while a Service gets its addresses.
    pub(crate) addresses: tokio::sync::Mutex<()>,
    pub(crate) definitions: ServedDefinitions,
    pub(crate) webhooks: RwLock<Arc<Webhooks>>,
    /// The handling of webhooks behind Services.
    pub(crate) service_webhooks: ServiceWebhooks,
    /// True once a fault killed the server, which then stops answering.
    pub(super) killed: watch::Sender<bool>,
    /// The served resources. Watches of custom resources end when their resource changes.
    kinds: watch::Sender<Arc<Kinds>>,
}

impl Server {
    pub(super) fn new(
        store: Store,
        clock: Clock,
        audit: AuditLog,
        faults: ActiveFaults,
        services: ServiceWebhooks,
    ) -> Self {
        Self {
            store: Arc::new(store),
            clock,
            audit,
            faults,
            addresses: tokio::sync::Mutex::default(),
            definitions: ServedDefinitions::default(),
            webhooks: RwLock::default(),
            service_webhooks: services,
            killed: watch::Sender::new(false),
            kinds: watch::Sender::new(Arc::new(Kinds::new(discovery::discovery_order(Vec::new()), 0))),
        }
    }

    /// Returns the webhooks as of the last written configuration.
    pub(crate) fn webhooks(&self) -> Arc<Webhooks> {
        Arc::clone(&self.webhooks.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the currently served resources.
    pub(crate) fn kinds(&self) -> Arc<Kinds> {
        Arc::clone(&self.kinds.borrow())
    }

    /// Returns the served resources with notifications about changes.
    pub(crate) fn watch_kinds(&self) -> watch::Receiver<Arc<Kinds>> {
        self.kinds.subscribe()
    }

    /// Serves these custom resources from now on, in addition to the built-in ones.
    pub(crate) fn serve_custom_resources(&self, custom: Vec<Arc<ResourceType>>) {
        let resources = discovery::discovery_order(custom);
        self.kinds.send_modify(|kinds| *kinds = Arc::new(Kinds::new(resources, kinds.generation() + 1)));
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("revision", &self.store.revision()).finish_non_exhaustive()
    }
}

/// The finalizer that keeps a definition until its objects are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

#[derive(Debug, Default)]
pub(crate) struct ServedDefinitions {
    /// Held while a definition is processed. No code waits while holding the lock. The writer of a definition therefore
    /// sees the complete result, unless the writer left before processing began.
    pub(crate) processing: Mutex<()>,
    pub(crate) served: Mutex<BTreeMap<String, ServedDefinition>>,
    /// Definitions that wait for the deletion of their objects.
    terminating: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
pub(crate) struct ServedDefinition {
    /// The inputs of `resources`.
    pub(crate) origin: DefinitionOrigin,
    pub(crate) resources: Vec<Arc<ResourceType>>,
}

impl ServedDefinitions {
    pub(crate) fn set_terminating(&self, name: &str, terminating: bool) {
        let mut names = self.terminating.lock().unwrap_or_else(PoisonError::into_inner);
        if terminating {
            names.insert(name.to_owned());
        } else {
            names.remove(name);
        }
    }

    /// True if a definition waits for the deletion of its objects.
    pub(crate) fn is_terminating(&self, name: &str) -> bool {
        self.terminating.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

/// The parts of a definition that determine its resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DefinitionOrigin {
    pub(crate) uid: String,
    pub(crate) generation: i64,
    /// The accepted names, which may differ from the names in the spec.
    pub(crate) accepted: Value,
}
