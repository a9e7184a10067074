//! Two management clusters for tests of moves.

use inventory::ManagementCluster;
use support::{
    cluster_api::install,
    fixture::Fixture,
    scripted_connection::{OutgoingRequest, PausePoint, RequestOutcome, ScriptedConnection},
};

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

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

    /// Starts a lab with the kinds of Cluster API on both clusters.
    pub(crate) async fn with_kinds() -> Self {
        let lab = Self::start().await;
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
        crate::tests::cluster_behind(&self.source).await
    }

    pub(crate) async fn target(&self) -> ManagementCluster {
        crate::tests::cluster_behind(&self.target).await
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
