//! Management clusters on sandboxes, and separate runs.

pub(crate) mod move_world;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use apply::{ConnectionOptions, EventSink, LeaseHolder, LeaseRequest, Server, ServerOptions};
use inventory::ManagementCluster;
pub(crate) use support::small_providers::{NEW_VERSION, OLD_VERSION, bootstrap, control_plane, core, docker};
use support::{
    cluster_api::install,
    fixture::Fixture,
    scripted_connection::{OutgoingRequest, PausePoint, RequestOutcome, ScriptedConnection},
};

/// Returns a lease request with which this process acts as a separate run.
pub(crate) fn lease_request(process: &str) -> LeaseRequest {
    let holder = LeaseHolder { process: process.to_owned(), ..LeaseHolder::default() };
    LeaseRequest::new(ManagementCluster::lease_name(), holder)
}

/// Connects to a management cluster on a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// Connects to a management cluster through a client. The client may use a service in front of the sandbox.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = ConnectionOptions::of_client(client, "capstan-test");
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease();
    ManagementCluster::new(server, EventSink::none())
}

/// Connects to the management cluster at the end of a wire. Temporary failures are retried for as long as for users.
pub(crate) async fn cluster_behind(wire: &ScriptedConnection) -> ManagementCluster {
    cluster_through(wire.client()).await
}

/// A source and a target on sandboxes that collect garbage.
pub(crate) struct Lab {
    pub(crate) source: Fixture,
    pub(crate) target: Fixture,
}

/// The connections to both clusters, on which a run may be interrupted.
pub(crate) struct LabConnections {
    source: ScriptedConnection,
    target: ScriptedConnection,
}

impl Lab {
    pub(crate) async fn start() -> Self {
        Self { source: Fixture::start().await, target: Fixture::start().await }
    }

    /// Starts a lab with the kinds of Cluster API on both clusters, whose clocks stand still: objects that a test creates on
    /// both have the same field managers, like an object and its copy.
    pub(crate) async fn with_kinds() -> Self {
        let fixture = || Fixture::builder().clock_at("2026-01-02T03:04:05Z").start();
        let lab = Self { source: fixture().await, target: fixture().await };
        futures::join!(install(&lab.source), install(&lab.target));
        lab
    }

    pub(crate) fn lines(&self) -> LabConnections {
        self.breaking_after(u64::MAX)
    }

    /// Returns lines that break after a total number of requests to both clusters.
    pub(crate) fn breaking_after(&self, requests: u64) -> LabConnections {
        self.breaking_after_counted(requests, |_| true)
    }

    /// Returns lines that break after a total number of writes to both clusters.
    pub(crate) fn breaking_after_writes(&self, writes: u64) -> LabConnections {
        self.breaking_after_counted(writes, writes_something)
    }

    /// Returns the lines of one process that stops at one of its writes to either cluster.
    pub(crate) fn stopping_at_write(&self, number: u64) -> LabConnections {
        let (source, target) = ScriptedConnection::stopping_pair([&self.source, &self.target], number);
        LabConnections { source, target }
    }

    fn breaking_after_counted(&self, last: u64, counts: fn(&OutgoingRequest<'_>) -> bool) -> LabConnections {
        let counted = Arc::new(AtomicU64::new(0));
        self.breaking_at(move |request| {
            counts(request) && counted.fetch_add(1, Ordering::Relaxed) + 1 >= last
        })
    }

    /// Returns lines that break at a request to either cluster. The last request still has an effect.
    pub(crate) fn breaking_at(
        &self,
        is_last: impl Fn(&OutgoingRequest<'_>) -> bool + Clone + Send + Sync + 'static,
    ) -> LabConnections {
        let line = |fixture| {
            let is_last = is_last.clone();
            ScriptedConnection::new(fixture, move |request| {
                if is_last(request) { RequestOutcome::AnswerLost } else { RequestOutcome::Answered }
            })
        };
        LabConnections { source: line(&self.source), target: line(&self.target) }
    }

    /// Returns lines on which the first matching request to either cluster waits for the end of a moment.
    pub(crate) fn waiting_at(
        &self,
        moment: &PausePoint,
        is_moment: impl Fn(&OutgoingRequest<'_>) -> bool + Clone + Send + Sync + 'static,
    ) -> LabConnections {
        let line = |fixture| ScriptedConnection::pausing_before(fixture, moment, is_moment.clone());
        LabConnections { source: line(&self.source), target: line(&self.target) }
    }
}

impl LabConnections {
    pub(crate) async fn source(&self) -> ManagementCluster {
        cluster_behind(&self.source).await
    }

    pub(crate) async fn target(&self) -> ManagementCluster {
        cluster_behind(&self.target).await
    }

    /// Waits until the process is stopped.
    pub(crate) async fn stopped(&self) {
        self.source.stopped().await;
    }

    /// Continues the process.
    pub(crate) fn resume(&self) {
        self.source.resume();
    }

    /// Waits for the end of some work, or until a line breaks.
    pub(crate) async fn until_broken<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.source.run_until_broken(self.target.run_until_broken(work)).await.flatten()
    }
}

fn writes_something(request: &OutgoingRequest<'_>) -> bool {
    request.is_write()
}
