//! Two management clusters for tests of what goes between them.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use support::{cluster_api::install, fixture::Fixture};

use crate::{
    ManagementCluster,
    faults::wire::{Asked, Fate, Wire},
};

/// A source and a target, on sandboxes that collect garbage.
pub(crate) struct Lab {
    pub(crate) source: Fixture,
    pub(crate) target: Fixture,
}

/// The way to both, on which a run may be cut off.
pub(crate) struct Lines {
    source: Wire,
    target: Wire,
}

impl Lab {
    pub(crate) async fn start() -> Self {
        Self { source: Fixture::start().await, target: Fixture::start().await }
    }

    /// With the kinds of Cluster API on both.
    pub(crate) async fn with_kinds() -> Self {
        let lab = Self::start().await;
        futures::join!(install(&lab.source), install(&lab.target));
        lab
    }

    pub(crate) fn lines(&self) -> Lines {
        self.breaking_after(u64::MAX)
    }

    /// Lines that break after so many requests to both together.
    pub(crate) fn breaking_after(&self, requests: u64) -> Lines {
        self.breaking_after_those(requests, |_| true)
    }

    /// The same, counting those alone that may change something.
    pub(crate) fn breaking_after_writes(&self, writes: u64) -> Lines {
        self.breaking_after_those(writes, writes_something)
    }

    /// Lines of one process that is stopped at one of its writes to either side.
    pub(crate) fn stopping_at_write(&self, number: u64) -> Lines {
        let (source, target) = Wire::stopping_pair([&self.source, &self.target], number);
        Lines { source, target }
    }

    fn breaking_after_those(&self, last: u64, counts: fn(&Asked<'_>) -> bool) -> Lines {
        let counted = Arc::new(AtomicU64::new(0));
        let line = |fixture| {
            let counted = Arc::clone(&counted);
            Wire::new(fixture, move |asked| {
                let number = counted.fetch_add(u64::from(counts(asked)), Ordering::Relaxed) + 1;
                if number < last || !counts(asked) { Fate::Answered } else { Fate::Last }
            })
        };
        Lines { source: line(&self.source), target: line(&self.target) }
    }
}

impl Lines {
    pub(crate) async fn source(&self) -> ManagementCluster {
        self.source.cluster().await
    }

    pub(crate) async fn target(&self) -> ManagementCluster {
        self.target.cluster().await
    }

    /// Waits until the process is stopped.
    pub(crate) async fn stopped(&self) {
        self.source.stopped().await;
    }

    /// Continues the process.
    pub(crate) fn resume(&self) {
        self.source.resume();
    }

    /// Waits for the end of something, or until one of the lines is broken.
    pub(crate) async fn until_broken<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.source.until_broken(self.target.until_broken(work)).await.flatten()
    }
}

fn writes_something(asked: &Asked<'_>) -> bool {
    asked.writes()
}
