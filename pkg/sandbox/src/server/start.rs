//! Starting a server and its controllers, and ending them.

use std::sync::Arc;

use tokio::runtime::{Handle, TryCurrentError};

use super::{Server, bootstrap};
use crate::{
    audit::Audit,
    client::Client,
    clock::Clock,
    controllers::{self, runner::Running},
    faults::Faults,
    options::Options,
    status::Status,
    store::{DirectoryOptions, JournalReport, OpenError, Revision, Store},
    verbs::{definitions, webhooks},
};

/// Why a sandbox did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its data directory cannot be used.
    #[error("cannot use the data directory")]
    Open(#[from] OpenError),
    /// What every cluster has from the start could not be made, such as on a full disk.
    #[error("cannot make what a new cluster has: {0}")]
    Bootstrap(String),
    /// There is no Tokio runtime for its controllers.
    #[error("cannot run controllers")]
    Runtime(#[from] TryCurrentError),
}

/// A Kubernetes API server in memory, with the controllers a cluster cannot do without. Clones are the same server; it
/// ends with the last of them, and its data directory is free for the next one.
///
/// It is a `tower` service: `kube::Client::new(sandbox, "default")` talks to it without a wire.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(super) server: Arc<Server>,
    controllers: Arc<Running>,
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

impl Sandbox {
    /// Starts a server with its controllers, which run on the Tokio runtime this is called in. What every cluster has
    /// from the start is there when it returns.
    ///
    /// # Errors
    /// When the data directory cannot be used or takes no writes. What was in it is as it was.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        Self::start_at(options, Clock::default()).await
    }

    /// The same, with a clock of its own.
    ///
    /// # Errors
    /// As [`Sandbox::start`].
    pub async fn start_at(options: Options, clock: Clock) -> Result<Self, StartError> {
        Handle::try_current()?;
        let store = match &options.data_dir {
            None => Store::in_memory(options.history),
            Some(directory) => {
                let how = DirectoryOptions { history: options.history, owner: options.process };
                Store::open(directory, &how)?
            }
        };
        let audit = Audit::keeping(options.audited);
        let faults = Faults::new(options.faults.clone());
        let server = Arc::new(Server::new(store, clock, audit, faults, options.service_webhooks));
        begin(&server).await.map_err(|status: Status| StartError::Bootstrap(status.message))?;
        let client = Client::new(Arc::clone(&server), "sandbox");
        let running =
            Running::start(client, Arc::clone(&server.store), controllers::controllers(&options.controllers));
        Ok(Self { server, controllers: Arc::new(running) })
    }

    /// Waits until the controllers have nothing left to do. One that cannot do its work, and tries again and again,
    /// keeps this from ending; [`Sandbox::failing`] names it.
    pub async fn settle(&self) {
        loop {
            let revision = self.server.store.revision();
            self.controllers.settled(revision).await;
            if self.server.store.revision() == revision {
                return;
            }
        }
    }

    /// What the controllers failed at last time and try again: a sentence each, with controller and object, sorted.
    pub fn failing(&self) -> Vec<String> {
        self.controllers.failing()
    }

    /// The number of the newest change.
    pub fn revision(&self) -> u64 {
        self.server.store.revision().0
    }

    /// Forgets how things were before a revision, as a compaction of etcd does: a list or a watch from before it is
    /// answered with 410.
    pub fn compact(&self, before: u64) {
        self.server.store.compact(Revision(before));
    }

    /// Ends the controllers and all watches. What is asked afterwards is still answered.
    pub async fn stop(&self) {
        self.controllers.stop().await;
        self.server.store.close();
    }

    /// Ends when a fault has killed it.
    pub async fn killed(&self) {
        // The sender lives as long as the server, so the wait ends with a value.
        let _ = self.server.killed.subscribe().wait_for(|killed| *killed).await;
    }

    /// What there is to tell about the data directory, if there is one.
    pub fn journal_report(&self) -> Option<JournalReport> {
        self.server.store.journal_report()
    }
}

/// Takes up what is stored, and makes what every cluster has when it is not there.
async fn begin(server: &Arc<Server>) -> Result<(), Status> {
    definitions::load(server)?;
    bootstrap::bootstrap(&Client::new(Arc::clone(server), "apiserver")).await?;
    // A webhook that does not answer must not keep the server from starting.
    webhooks::load(server);
    Ok(())
}
