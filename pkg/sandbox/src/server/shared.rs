//! The state that all requests share.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::sync::watch;

use super::definitions::Definitions;
use crate::{
    admission::{ServiceWebhooks, Webhooks},
    audit::Audit,
    clock::Clock,
    discovery,
    faults::Faults,
    kinds::{Kinds, ResourceType},
    store::Store,
};

pub(crate) struct Server {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Clock,
    pub(crate) audit: Audit,
    pub(crate) faults: Faults,
    /// Held while a Service gets its addresses.
    pub(crate) addresses: tokio::sync::Mutex<()>,
    pub(crate) definitions: Definitions,
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
        audit: Audit,
        faults: Faults,
        services: ServiceWebhooks,
    ) -> Self {
        Self {
            store: Arc::new(store),
            clock,
            audit,
            faults,
            addresses: tokio::sync::Mutex::default(),
            definitions: Definitions::default(),
            webhooks: RwLock::default(),
            service_webhooks: services,
            killed: watch::Sender::new(false),
            kinds: watch::Sender::new(Arc::new(Kinds::new(discovery::in_order(Vec::new()), 0))),
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
    pub(crate) fn follow_kinds(&self) -> watch::Receiver<Arc<Kinds>> {
        self.kinds.subscribe()
    }

    /// Serves these custom resources from now on, in addition to the built-in ones.
    pub(crate) fn serve(&self, custom: Vec<Arc<ResourceType>>) {
        let resources = discovery::in_order(custom);
        self.kinds.send_modify(|kinds| *kinds = Arc::new(Kinds::new(resources, kinds.counter() + 1)));
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("revision", &self.store.revision()).finish_non_exhaustive()
    }
}
