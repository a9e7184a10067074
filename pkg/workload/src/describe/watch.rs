//! Watches a cluster: returns its tree, then a new tree after every change.
//!
//! ```text
//!            ┌──────────── event of a watch, or a long silence ──────────┐
//!            ▼                                                           │
//! wait ─► read the whole tree ─► report a change ─► watch its kinds ─────┤
//!            └── no answer ─► report once ─► pause, longer each time ────┘
//! ```
//!
//! The content of an event is ignored: an event only triggers another read.

use std::{convert::Infallible, sync::Arc, time::Duration};

use apply::{ApiKind, ListQuery, Server};
use futures::{
    StreamExt as _,
    stream::{BoxStream, SelectAll, unfold},
};
use inventory::ManagementCluster;
use jiff::Timestamp;
use tokio::time::{Instant, sleep, timeout_at};

use super::{ClusterTree, DescribeError, DescribeRequest, kinds, read::ClusterReader, read_tree};

/// The delay after an event, to collect further events.
const EVENT_DELAY: Duration = Duration::from_millis(200);
/// The minimum interval between two reads of the tree.
const MIN_READ_INTERVAL: Duration = Duration::from_secs(1);
/// The interval of connection checks without events.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The maximum interval between two reads without events. Some kinds cannot be watched by every user, and no watch
/// covers objects without the label of their cluster.
const MAX_READ_INTERVAL: Duration = Duration::from_secs(30);
/// The maximum pause between two attempts to reach the server.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(10);

/// An event of a watched cluster.
#[derive(Clone, Debug)]
pub enum ClusterEvent {
    /// The tree, first and after every change.
    Tree(Arc<ClusterTree>),
    /// The server does not answer; reported once. The last tree stays valid.
    Unreachable {
        /// The time of the first failure.
        since: Timestamp,
        /// The reason, in one line.
        reason: String,
    },
    /// The server answers again, and the tree is unchanged.
    Reachable,
    /// The Cluster was deleted. This is the last event.
    Deleted,
}

/// Watches a cluster. Writes nothing.
///
/// Ends with [`ClusterEvent::Deleted`] or with the first error other than an unreachable server. If the first read fails,
/// that is an error in any case.
pub fn watch_cluster(
    cluster: &ManagementCluster,
    request: DescribeRequest,
) -> BoxStream<'static, Result<ClusterEvent, DescribeError>> {
    let watch = TreeWatch {
        server: cluster.server.retrying_for(Duration::ZERO),
        request,
        watches: SelectAll::new(),
        watched: Vec::new(),
        tree: None,
        last_read: Instant::now(),
        failures: 0,
        has_ended: false,
    };
    unfold(watch, TreeWatch::next).boxed()
}

struct TreeWatch {
    server: Server,
    request: DescribeRequest,
    watches: SelectAll<BoxStream<'static, ()>>,
    watched: Vec<WatchTarget>,
    /// The last reported tree.
    tree: Option<Arc<ClusterTree>>,
    /// The time of the last read.
    last_read: Instant,
    /// The number of consecutive failures.
    failures: u32,
    has_ended: bool,
}

/// The objects of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchTarget {
    pub(super) kind: ApiKind,
    /// The label selector; `labels` and `fields` are never both set.
    pub(super) labels: String,
    pub(super) fields: String,
}

impl TreeWatch {
    async fn next(mut self) -> Option<(Result<ClusterEvent, DescribeError>, Self)> {
        while !self.has_ended {
            self.wait().await;
            let news = self.read().await.transpose();
            if let Some(news) = news {
                self.has_ended = matches!(news, Ok(ClusterEvent::Deleted) | Err(_));
                return Some((news, self));
            }
        }
        None
    }

    /// Reads the tree. Returns a change, if any.
    async fn read(&mut self) -> Result<Option<ClusterEvent>, DescribeError> {
        self.last_read = Instant::now();
        let read = Box::pin(read_tree(&ClusterReader::new(&self.server, &self.request), &self.request)).await;
        let (tree, read_kinds) = match read {
            Ok(read) => read,
            Err(error) if self.tree.is_none() => return Err(error),
            Err(DescribeError::UnknownCluster { .. }) => return Ok(Some(ClusterEvent::Deleted)),
            Err(DescribeError::Api(error)) if error.is_temporary() => {
                self.failures += 1;
                let since = Timestamp::now();
                let away = || ClusterEvent::Unreachable { since, reason: api::with_causes(&error) };
                return Ok((self.failures == 1).then(away));
            }
            Err(error) => return Err(error),
        };
        self.watch(read_kinds);
        let was_away = std::mem::take(&mut self.failures) > 0;
        if self.tree.as_ref().is_some_and(|last| **last == tree) {
            return Ok(was_away.then_some(ClusterEvent::Reachable));
        }
        let tree = Arc::new(tree);
        self.tree = Some(Arc::clone(&tree));
        Ok(Some(ClusterEvent::Tree(tree)))
    }

    /// Starts missing watches. Existing watches continue, as kinds rarely leave a tree.
    fn watch(&mut self, wanted: Vec<WatchTarget>) {
        for new in wanted {
            if self.watched.contains(&new) {
                continue;
            }
            let list = ListQuery {
                namespace: Some(self.request.namespace.clone()),
                labels: new.labels.clone(),
                fields: new.fields.clone(),
                metadata_only: true,
                limit: None,
            };
            self.watches.push(self.server.watch(&new.kind, &list).map(drop).boxed());
            self.watched.push(new);
        }
    }

    /// Waits until the next read is due.
    async fn wait(&mut self) {
        if self.tree.is_none() {
            return;
        }
        if self.failures > 0 {
            let pause = Duration::from_secs(1) * 2_u32.pow(self.failures.min(5) - 1);
            return sleep(pause.min(MAX_RETRY_PAUSE)).await;
        }
        loop {
            if timeout_at(Instant::now() + CONNECTION_CHECK_INTERVAL, next_event(&mut self.watches))
                .await
                .is_ok()
            {
                let deadline = (Instant::now() + EVENT_DELAY).max(self.last_read + MIN_READ_INTERVAL);
                let more = async {
                    loop {
                        next_event(&mut self.watches).await;
                    }
                };
                let _: Result<Infallible, _> = timeout_at(deadline, more).await;
                return;
            }
            if self.last_read.elapsed() >= MAX_READ_INTERVAL || !self.is_reachable().await {
                return;
            }
        }
    }

    async fn is_reachable(&mut self) -> bool {
        let DescribeRequest { namespace, name, .. } = &self.request;
        matches!(self.server.get(&kinds::cluster_kind(), namespace, name).await, Ok(Some(_)))
    }
}

/// Returns on the next event of a watch; never returns without watches.
async fn next_event(watches: &mut SelectAll<BoxStream<'static, ()>>) {
    if watches.next().await.is_none() {
        std::future::pending::<()>().await;
    }
}

impl WatchTarget {
    /// Selects the objects of a kind with a label.
    pub(super) fn with_labels(kind: ApiKind, labels: String) -> Self {
        Self { kind, labels, fields: String::new() }
    }

    /// Selects one object.
    pub(super) fn with_name(kind: ApiKind, name: &str) -> Self {
        Self { kind, labels: String::new(), fields: format!("metadata.name={name}") }
    }
}

#[cfg(test)]
mod tests;
