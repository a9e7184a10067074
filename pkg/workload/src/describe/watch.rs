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

use super::{ClusterTree, DescribeError, DescribeRequest, kinds, read::Reader, read_tree};

/// The delay after an event, to collect further events.
const CALM: Duration = Duration::from_millis(200);
/// The minimum interval between two reads of the tree.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// The interval of connection checks without events.
const BEAT: Duration = Duration::from_secs(5);
/// The maximum interval between two reads without events. Some kinds cannot be watched by every user, and no watch
/// covers objects without the label of their cluster.
const SILENCE: Duration = Duration::from_secs(30);
/// The maximum pause between two attempts to reach the server.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// An event of a watched cluster.
#[derive(Clone, Debug)]
pub enum ClusterNews {
    /// The tree, first and after every change.
    Tree(Arc<ClusterTree>),
    /// The server does not answer; reported once. The last tree stays valid.
    Away {
        /// The time of the first failure.
        since: Timestamp,
        /// The reason, in one line.
        why: String,
    },
    /// The server answers again, and the tree is unchanged.
    Back,
    /// The Cluster was deleted. This is the last event.
    Gone,
}

/// Watches a cluster. Writes nothing.
///
/// Ends with [`ClusterNews::Gone`] or with the first error other than an unreachable server. If the first read fails,
/// that is an error in any case.
pub fn watch_cluster(
    cluster: &ManagementCluster,
    request: DescribeRequest,
) -> BoxStream<'static, Result<ClusterNews, DescribeError>> {
    let watch = Watch {
        server: cluster.server.retrying_for(Duration::ZERO),
        request,
        watches: SelectAll::new(),
        watched: Vec::new(),
        tree: None,
        looked: Instant::now(),
        failures: 0,
        has_ended: false,
    };
    unfold(watch, Watch::next).boxed()
}

struct Watch {
    server: Server,
    request: DescribeRequest,
    watches: SelectAll<BoxStream<'static, ()>>,
    watched: Vec<Watched>,
    /// The last reported tree.
    tree: Option<Arc<ClusterTree>>,
    /// The time of the last read.
    looked: Instant,
    /// The number of consecutive failures.
    failures: u32,
    has_ended: bool,
}

/// The objects of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    pub(super) kind: ApiKind,
    /// The label selector; `labels` and `fields` are never both set.
    pub(super) labels: String,
    pub(super) fields: String,
}

impl Watch {
    async fn next(mut self) -> Option<(Result<ClusterNews, DescribeError>, Self)> {
        while !self.has_ended {
            self.wait().await;
            let news = self.look().await.transpose();
            if let Some(news) = news {
                self.has_ended = matches!(news, Ok(ClusterNews::Gone) | Err(_));
                return Some((news, self));
            }
        }
        None
    }

    /// Reads the tree. Returns a change, if any.
    async fn look(&mut self) -> Result<Option<ClusterNews>, DescribeError> {
        self.looked = Instant::now();
        let read = Box::pin(read_tree(&Reader::new(&self.server, &self.request), &self.request)).await;
        let (tree, read_kinds) = match read {
            Ok(read) => read,
            Err(error) if self.tree.is_none() => return Err(error),
            Err(DescribeError::NoSuchCluster { .. }) => return Ok(Some(ClusterNews::Gone)),
            Err(DescribeError::Api(error)) if error.is_temporary() => {
                self.failures += 1;
                let since = Timestamp::now();
                let away = || ClusterNews::Away { since, why: api::with_causes(&error) };
                return Ok((self.failures == 1).then(away));
            }
            Err(error) => return Err(error),
        };
        self.watch(read_kinds);
        let was_away = std::mem::take(&mut self.failures) > 0;
        if self.tree.as_ref().is_some_and(|told| **told == tree) {
            return Ok(was_away.then_some(ClusterNews::Back));
        }
        let tree = Arc::new(tree);
        self.tree = Some(Arc::clone(&tree));
        Ok(Some(ClusterNews::Tree(tree)))
    }

    /// Starts missing watches. Existing watches continue, as kinds rarely leave a tree.
    fn watch(&mut self, wanted: Vec<Watched>) {
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
            return sleep(pause.min(LONGEST_PAUSE)).await;
        }
        loop {
            if timeout_at(Instant::now() + BEAT, changed(&mut self.watches)).await.is_ok() {
                let calm = (Instant::now() + CALM).max(self.looked + BETWEEN_LOOKS);
                let more = async {
                    loop {
                        changed(&mut self.watches).await;
                    }
                };
                let _: Result<Infallible, _> = timeout_at(calm, more).await;
                return;
            }
            if self.looked.elapsed() >= SILENCE || !self.answers().await {
                return;
            }
        }
    }

    async fn answers(&mut self) -> bool {
        let DescribeRequest { namespace, name, .. } = &self.request;
        matches!(self.server.get(&kinds::cluster(), namespace, name).await, Ok(Some(_)))
    }
}

/// Returns on the next event of a watch; never returns without watches.
async fn changed(watches: &mut SelectAll<BoxStream<'static, ()>>) {
    if watches.next().await.is_none() {
        std::future::pending::<()>().await;
    }
}

impl Watched {
    /// Selects the objects of a kind with a label.
    pub(super) fn labelled(kind: ApiKind, labels: String) -> Self {
        Self { kind, labels, fields: String::new() }
    }

    /// Selects one object.
    pub(super) fn named(kind: ApiKind, name: &str) -> Self {
        Self { kind, labels: String::new(), fields: format!("metadata.name={name}") }
    }
}

#[cfg(test)]
mod tests;
