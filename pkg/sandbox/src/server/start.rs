//! Start and stop of a server and its controllers.

use std::sync::Arc;

use tokio::runtime::{Handle, TryCurrentError};

use super::{Server, bootstrap};
use crate::{
    audit::AuditLog,
    client::Client,
    clock::Clock,
    controllers::{self, runner::RunningControllers},
    faults::ActiveFaults,
    options::Options,
    status::Status,
    store::{DirectoryOptions, JournalReport, OpenError, Revision, Store},
    verbs::{admission, definitions},
};

/// A failure to start a sandbox.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot open the data directory")]
    Open(#[from] OpenError),
    /// A failure to create the initial objects, for example on a full disk.
    #[error("cannot create the initial objects of a cluster: {0}")]
    Bootstrap(String),
    #[error("cannot start the controllers")]
    Runtime(#[from] TryCurrentError),
}

/// A Kubernetes API server in memory, with the essential controllers of a cluster. Clones share one server. Dropping
/// the last clone ends the server and releases its data directory.
///
/// The sandbox is a `tower` service: `kube::Client::new(sandbox, "default")` connects without a network.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(super) server: Arc<Server>,
    controllers: Arc<RunningControllers>,
}

impl Sandbox {
    /// Returns the log of requests.
    pub fn audit(&self) -> &AuditLog {
        &self.server.audit
    }

    /// Returns the active faults, which may change at any time.
    pub fn faults(&self) -> &ActiveFaults {
        &self.server.faults
    }

    #[cfg(test)]
    /// Returns an in-process client that writes with this manager.
    pub(crate) fn client(&self, manager: &str) -> Client {
        Client::new(Arc::clone(&self.server), manager)
    }

    /// Returns the store, for tests of stored objects.
    #[cfg(test)]
    pub(crate) fn store(&self) -> &Store {
        &self.server.store
    }
}

impl Sandbox {
    /// Starts a server with its controllers on the current Tokio runtime. The initial objects of a cluster exist when
    /// this method returns.
    ///
    /// # Errors
    /// Fails if the data directory is unusable or read-only. The content of the directory is then unchanged.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        Self::start_with_clock(options, Clock::default()).await
    }

    /// Starts a server with its own clock.
    ///
    /// # Errors
    /// Fails like [`Sandbox::start`].
    pub async fn start_with_clock(options: Options, clock: Clock) -> Result<Self, StartError> {
        Handle::try_current()?;
        let store = match &options.data_dir {
            None => Store::in_memory(options.history_limit),
            Some(directory) => {
                let how = DirectoryOptions { history: options.history_limit, owner: options.process_id };
                Store::open(directory, &how)?
            }
        };
        let audit = AuditLog::with_capacity(options.audit_limit);
        let faults = ActiveFaults::new(options.faults.clone());
        let server = Arc::new(Server::new(store, clock, audit, faults, options.service_webhooks));
        load_state(&server).await.map_err(|status: Status| StartError::Bootstrap(status.message))?;
        let client = Client::new(Arc::clone(&server), "sandbox");
        let running = RunningControllers::start(
            client,
            Arc::clone(&server.store),
            controllers::controllers(&options.controllers),
        );
        Ok(Self { server, controllers: Arc::new(running) })
    }

    /// Waits until the controllers have no pending work. A controller that fails and retries forever prevents this;
    /// [`Sandbox::failing_reconciliations`] names such controllers.
    pub async fn wait_until_idle(&self) {
        loop {
            let revision = self.server.store.revision();
            self.controllers.wait_until_idle(revision).await;
            if self.server.store.revision() == revision {
                return;
            }
        }
    }

    /// Returns the controllers' failures that are being retried, sorted: one sentence each, with controller and object.
    pub fn failing_reconciliations(&self) -> Vec<String> {
        self.controllers.failing_reconciliations()
    }

    /// Returns the revision of the newest change.
    pub fn revision(&self) -> u64 {
        self.server.store.revision().0
    }

    /// Drops the history before a revision, like a compaction of etcd. Lists and watches from earlier revisions are
    /// answered with 410.
    pub fn compact(&self, before: u64) {
        self.server.store.compact(Revision(before));
    }

    /// Stops the controllers and all watches. The server still answers requests.
    pub async fn stop(&self) {
        self.controllers.stop().await;
        self.server.store.close();
    }

    /// Waits until a fault kills the server.
    pub async fn wait_until_killed(&self) {
        // The sender lives as long as the server, so the wait always returns a value.
        let _ = self.server.killed.subscribe().wait_for(|killed| *killed).await;
    }

    /// Returns the report about the data directory. `None` without a data directory.
    pub fn journal_report(&self) -> Option<JournalReport> {
        self.server.store.journal_report()
    }
}

/// Loads the stored state and creates missing initial objects.
async fn load_state(server: &Arc<Server>) -> Result<(), Status> {
    definitions::load(server)?;
    bootstrap::bootstrap(&Client::new(Arc::clone(server), "apiserver")).await?;
    // Webhooks load last: a webhook that does not answer must not prevent the start.
    admission::load_webhooks(server);
    Ok(())
}
