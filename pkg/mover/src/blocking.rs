//! Waits for providers that block a move: one watch per kind, and one deadline for all objects.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use api::output::ProgressEvent;
use apply::{ApiError, ApiKind, ListQuery, ObjectKey, WatchEvent, key_of};
use futures::{StreamExt as _, stream};
use inventory::ManagementCluster;
use tokio::time::timeout;
use workload::{BLOCK_MOVE, NodeId};

use crate::{MoveError, MovePlan, MoveSide, error::api_error, request::MAX_DISCOVERIES, run::MoveContext};

/// Objects of one kind that block a move.
pub(super) struct BlockingObjects {
    kind: ApiKind,
    pub(super) objects: BTreeSet<ObjectKey>,
}

impl MoveContext<'_> {
    /// Waits until no moving object is blocked, then discovers the source again.
    pub(super) async fn wait_until_unblocked(&mut self) -> Result<(), MoveError> {
        for _ in 0..MAX_DISCOVERIES {
            let blocking = blocking_objects(&self.plan, self.leaving_nodes());
            if blocking.is_empty() {
                return Ok(());
            }
            wait_for_providers(&self.source, blocking, self.request.timeout).await?;
            self.rediscover().await?;
        }
        let objects = blocking_objects(&self.plan, self.leaving_nodes())
            .into_iter()
            .flat_map(|one| one.objects)
            .collect();
        Err(MoveError::Blocked { objects, after: self.request.timeout })
    }
}

/// Returns the objects that block a move, by kind.
pub(super) fn blocking_objects(plan: &MovePlan, nodes: impl Iterator<Item = NodeId>) -> Vec<BlockingObjects> {
    let mut kinds: BTreeMap<(String, String), BlockingObjects> = BTreeMap::new();
    for facts in nodes.map(|node| plan.facts(node)).filter(|facts| facts.blocks_move) {
        let place = (facts.key.group.clone(), facts.key.kind.clone());
        let new = || BlockingObjects { kind: facts.object_type.kind.clone(), objects: BTreeSet::new() };
        kinds.entry(place).or_insert_with(new).objects.insert(facts.key.clone());
    }
    kinds.into_values().collect()
}

/// Waits until no object blocks the move.
/// # Errors
/// `Blocked` with the remaining objects if the timeout expires.
pub(super) async fn wait_for_providers(
    source: &ManagementCluster,
    blocking: Vec<BlockingObjects>,
    after: Duration,
) -> Result<(), MoveError> {
    let mut remaining: BTreeSet<ObjectKey> = blocking.iter().flat_map(|one| one.objects.clone()).collect();
    source.events.send(&ProgressEvent::MoveBlocked { objects: remaining.iter().cloned().collect() });
    match timeout(after, watch_until_unblocked(source, blocking, &mut remaining)).await {
        Ok(ended) => ended.map_err(api_error(MoveSide::Source)),
        Err(_) => Err(MoveError::Blocked { objects: remaining.into_iter().collect(), after }),
    }
}

/// Watches objects until none blocks the move. A deleted object does not block.
async fn watch_until_unblocked(
    source: &ManagementCluster,
    blocking: Vec<BlockingObjects>,
    remaining: &mut BTreeSet<ObjectKey>,
) -> Result<(), ApiError> {
    let watches = blocking.iter().map(|BlockingObjects { kind, objects }| {
        let namespaces: BTreeSet<&str> = objects.iter().map(|key| &*key.namespace).collect();
        let only = namespaces.first().filter(|only| namespaces.len() == 1 && !only.is_empty());
        let list = ListQuery {
            namespace: only.map(|only| (*only).to_owned()),
            metadata_only: true,
            ..ListQuery::default()
        };
        source.server.watch(kind, &list)
    });
    let mut events = stream::select_all(watches);
    while !remaining.is_empty() {
        match events.next().await {
            None => return Ok(()),
            Some(event) => match event? {
                WatchEvent::Deleted(object) => drop(remaining.remove(&key_of(&object))),
                WatchEvent::Updated(object) if object.annotation(BLOCK_MOVE).is_none() => {
                    remaining.remove(&key_of(&object));
                }
                WatchEvent::Updated(_) => {}
            },
        }
    }
    Ok(())
}
