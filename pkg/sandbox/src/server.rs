//! The server: what all requests share, and the door they come through.
//!
//! ```text
//! tower service ─► service: route, admit, answer ─┬► verbs      (resources)
//!                                                 └► documents  (discovery, OpenAPI, version, health)
//! Server: store, kinds ◄── definitions (custom resources come and go)
//! ```

pub(crate) mod bootstrap;
pub(crate) mod definitions;
mod documents;
mod hooks;
mod service;
mod start;
pub(crate) mod webhooks;

use std::{fmt, sync::Arc};

use tokio::sync::watch;

pub(crate) use self::bootstrap::api_service;
pub use self::start::StartError;
pub(crate) use self::{hooks::forbidden, service::logged};
use crate::{
    admission::ServiceWebhooks,
    audit::Audit,
    client::Client,
    clock::Clock,
    controllers::runner::Running,
    discovery,
    faults::Faults,
    kinds::{Kinds, ResourceType},
    options::Options,
    status::Status,
    store::Store,
};

/// A Kubernetes API server in memory, with the controllers a cluster cannot do without. Clones are the same server; it
/// ends with the last of them, and its data directory is free for the next one.
///
/// It is a `tower` service: `kube::Client::new(sandbox, "default")` talks to it without a wire.
#[derive(Clone, Debug)]
pub struct Sandbox {
    server: Arc<Server>,
    controllers: Arc<Running>,
}

/// What all requests share.
pub(crate) struct Server {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Clock,
    pub(crate) audit: Audit,
    pub(crate) faults: Faults,
    /// Held while a Service gets its addresses.
    pub(crate) addresses: tokio::sync::Mutex<()>,
    pub(crate) definitions: definitions::Definitions,
    pub(crate) webhooks: webhooks::Registered,
    /// What becomes of webhooks behind Services.
    pub(crate) service_webhooks: ServiceWebhooks,
    /// Set once a fault killed it: nothing is answered any more.
    killed: watch::Sender<bool>,
    /// Watches of custom resources end when it changes what they are about.
    kinds: watch::Sender<Arc<Kinds>>,
}

impl Sandbox {
    /// The log of requests.
    pub fn audit(&self) -> &Audit {
        &self.server.audit
    }

    /// The trouble there is; it may be changed at any time.
    pub fn faults(&self) -> &Faults {
        &self.server.faults
    }

    #[cfg(test)]
    /// A client without a wire that writes under this name.
    pub(crate) fn client(&self, manager: &str) -> Client {
        Client::new(Arc::clone(&self.server), manager)
    }

    /// What is stored, for tests that look at how it came to be.
    #[cfg(test)]
    pub(crate) fn store(&self) -> &Store {
        &self.server.store
    }
}

impl Server {
    fn new(store: Store, clock: Clock, options: &Options) -> Self {
        Self {
            store: Arc::new(store),
            clock,
            audit: Audit::keeping(options.audited),
            faults: Faults::new(options.faults.clone()),
            addresses: tokio::sync::Mutex::default(),
            definitions: definitions::Definitions::default(),
            webhooks: webhooks::Registered::default(),
            service_webhooks: options.service_webhooks,
            killed: watch::Sender::new(false),
            kinds: watch::Sender::new(Arc::new(Kinds::new(discovery::in_order(Vec::new()), 0))),
        }
    }

    /// Takes up what is stored, and makes what every cluster has when it is not there.
    async fn begin(self: &Arc<Self>) -> Result<(), Status> {
        definitions::load(self)?;
        bootstrap::bootstrap(&Client::new(Arc::clone(self), "apiserver")).await?;
        // A webhook that does not answer must not keep the server from starting.
        webhooks::load(self);
        Ok(())
    }

    /// What is served at this moment.
    pub(crate) fn kinds(&self) -> Arc<Kinds> {
        Arc::clone(&self.kinds.borrow())
    }

    /// The same, with word of each change.
    pub(crate) fn follow_kinds(&self) -> watch::Receiver<Arc<Kinds>> {
        self.kinds.subscribe()
    }

    /// Serves these custom resources from now on, beside the built-in ones.
    fn serve(&self, custom: Vec<Arc<ResourceType>>) {
        let resources = discovery::in_order(custom);
        self.kinds.send_modify(|kinds| *kinds = Arc::new(Kinds::new(resources, kinds.counter() + 1)));
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("revision", &self.store.revision()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
