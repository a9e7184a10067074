//! Watching a cluster: its tree, then a new one after every change.
//!
//! ```text
//!            ┌──────────── news of a watch, or a long silence ───────────┐
//!            ▼                                                           │
//! wait ─► read the whole tree ─► changed? tell ─► watch its kinds ───────┤
//!            └── no answer ─► tell once ─► pause, longer each time ──────┘
//! ```
//!
//! What a watch tells is never looked at: it only says that reading anew is worth it.

use std::{convert::Infallible, sync::Arc, time::Duration};

use apply::{ApiKind, List, Server};
use futures::{
    StreamExt as _,
    stream::{BoxStream, SelectAll, unfold},
};
use inventory::ManagementCluster;
use jiff::Timestamp;
use tokio::time::{Instant, sleep, timeout_at};

use super::{ClusterTree, DescribeError, DescribeRequest, kinds, read::Reader, read_tree};

/// Changes seldom come alone: so long is waited for more of them.
const CALM: Duration = Duration::from_millis(200);
/// The tree is not read more often.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// After so long without a change it is asked whether the server is still there.
const BEAT: Duration = Duration::from_secs(5);
/// After so long without a change the tree is read all the same: not all kinds can be watched by everybody, and an object
/// that does not carry the name of its cluster is in no watch.
const SILENCE: Duration = Duration::from_secs(30);
/// The longest pause between two questions to a server that does not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What is told of a cluster that is watched.
#[derive(Clone, Debug)]
pub enum ClusterNews {
    /// What there is of it, at first and after every change.
    Tree(Arc<ClusterTree>),
    /// The server does not answer; told once, and what was told last stays.
    Away {
        /// Since when.
        since: Timestamp,
        /// Why, in one line.
        why: String,
    },
    /// The server answers again, and nothing has changed.
    Back,
    /// The Cluster is gone. Nothing is told after this.
    Gone,
}

/// Watches a cluster. Ends with [`ClusterNews::Gone`], or with the first error that is not a server that does not answer;
/// when that is so from the beginning, it is an error too. Nothing is written.
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
    /// What was told last.
    tree: Option<Arc<ClusterTree>>,
    /// When it was read last.
    looked: Instant,
    /// How often in a row the server did not answer.
    failures: u32,
    has_ended: bool,
}

/// Objects that a watch is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    pub(super) kind: ApiKind,
    /// A selector of labels or of fields, never both.
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

    /// Reads the tree, and says what is new.
    async fn look(&mut self) -> Result<Option<ClusterNews>, DescribeError> {
        self.looked = Instant::now();
        let read = Box::pin(read_tree(&Reader::new(&self.server, &self.request), &self.request)).await;
        let (tree, read_kinds) = match read {
            Ok(read) => read,
            Err(error) if self.tree.is_none() => return Err(error),
            Err(DescribeError::NoSuchCluster { .. }) => return Ok(Some(ClusterNews::Gone)),
            Err(DescribeError::Api(error)) if error.can_pass() => {
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

    /// Watches what is not watched yet. What was is watched on: kinds seldom leave a tree.
    fn watch(&mut self, wanted: Vec<Watched>) {
        for new in wanted {
            if self.watched.contains(&new) {
                continue;
            }
            let list = List {
                namespace: Some(self.request.namespace.clone()),
                labels: new.labels.clone(),
                fields: new.fields.clone(),
                metadata_only: true,
                at_most: None,
            };
            self.watches.push(self.server.watch(&new.kind, &list).map(drop).boxed());
            self.watched.push(new);
        }
    }

    /// Waits until there is a reason to look.
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

/// Returns when a watch tells something; never when none is left.
async fn changed(watches: &mut SelectAll<BoxStream<'static, ()>>) {
    if watches.next().await.is_none() {
        std::future::pending::<()>().await;
    }
}

impl Watched {
    /// The objects of a kind that carry a label.
    pub(super) fn labelled(kind: ApiKind, labels: String) -> Self {
        Self { kind, labels, fields: String::new() }
    }

    /// One object.
    pub(super) fn named(kind: ApiKind, name: &str) -> Self {
        Self { kind, labels: String::new(), fields: format!("metadata.name={name}") }
    }
}

#[cfg(test)]
mod tests;
