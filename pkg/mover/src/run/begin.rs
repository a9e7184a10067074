//! Starts a move: a new one, an interrupted one, or one whose journal is lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
};

use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::Content;

use super::{Begun, Copies, Moving, Work};
use crate::{
    ClusterChoice, JournalKeeper, MoveError, MoveJournal, MovePlan, MoveRequest, MoveSide, OnTarget, Route,
    create::Existing,
    error::at,
    journal::{HeldJournal, source_of},
    mark::marked,
    request::patient,
};

impl<'a> Moving<'a, Begun> {
    /// Takes the journals of both clusters. None if there is nothing to do.
    pub(super) async fn begin(
        route: Route<'_>,
        request: &'a MoveRequest,
        mut plan: MovePlan,
        keeper: &JournalKeeper,
    ) -> Result<Option<Self>, MoveError> {
        let (source, target) =
            (patient(route.source, request.timeout), patient(route.target, request.timeout));
        let journal = if let Some(journal) = plan.unfinished.take() {
            journal
        } else {
            let lost = lost_run(route, request, &plan).await?;
            if lost.is_none() && plan.moves_nothing() {
                return Ok(None);
            }
            new_journal(&source, &target, request, &plan, lost, keeper).await?
        };
        let held = HeldJournal::take(&source, &target, journal, keeper).await?;
        let there = plan.on_target.iter().filter(|(_, there)| **there != OnTarget::Create);
        let existed = there.map(|(node, _)| plan.key_on_target(*node, request)).collect();
        let known = plan.on_target.keys().map(|node| plan.key_on_target(*node, request)).collect();
        let (silent, words) = (BTreeSet::new(), BTreeMap::new());
        Ok(Some(Self {
            work: Work { source, target, request, plan, held, silent, words },
            existing: Existing::new(known, existed),
            copies: Copies::default(),
            behind: PhantomData,
        }))
    }
}

/// Returns the journal of a new move, or of a move with a lost journal and a known run.
async fn new_journal(
    source: &ManagementCluster,
    target: &ManagementCluster,
    request: &MoveRequest,
    plan: &MovePlan,
    lost: Option<String>,
    keeper: &JournalKeeper,
) -> Result<MoveJournal, MoveError> {
    let here = source.identity().await.map_err(at(MoveSide::Source))?;
    let there = target.identity().await.map_err(at(MoveSide::Target))?;
    let mut journal = MoveJournal::begin(here, there, request, chosen(request, plan), keeper);
    if let Some(run) = lost {
        journal.run = run;
    }
    Ok(journal)
}

/// Returns the chosen Clusters by name, because Clusters that were chosen by labels may be deleted later.
fn chosen(request: &MoveRequest, plan: &MovePlan) -> Option<BTreeSet<String>> {
    if request.clusters == ClusterChoice::All {
        return None;
    }
    let facts = plan.selection.moving().map(|node| &plan.discovered.graph.node(node).facts);
    let clusters = facts.filter(|facts| matches!(facts.content, Content::Cluster(_)));
    Some(clusters.map(|facts| format!("{}/{}", facts.key.namespace, facts.key.name)).collect())
}

/// Returns the run of a move whose journal is lost, from the mark on an object that the move paused. Marked objects of
/// the target count only if they came from this source and no longer exist there.
/// # Errors
/// `Orphaned` if nothing is left to move, and a move out of another cluster has paused Clusters of the target. It is
/// unknown if that move is complete.
async fn lost_run(
    Route { source, target }: Route<'_>,
    request: &MoveRequest,
    plan: &MovePlan,
) -> Result<Option<String>, MoveError> {
    let graph = &plan.discovered.graph;
    let here = plan.selection.moving().find_map(|node| graph.node(node).facts.paused_by.clone());
    if here.is_some() {
        return Ok(here);
    }
    let places: BTreeSet<&String> =
        request.namespaces.iter().map(|name| request.namespace_map.get(name).unwrap_or(name)).collect();
    let on_source: BTreeSet<ObjectKey> =
        graph.iter().map(|(node, _)| plan.key_on_target(node, request)).collect();
    let marked = marked(target).await.map_err(at(MoveSide::Target))?;
    let orphans = marked.into_iter().filter(|(key, run)| {
        places.contains(&key.namespace) && !on_source.contains(key) && source_of(run).is_some()
    });
    let here = source.identity().await.map_err(at(MoveSide::Source))?;
    let (ours, foreign): (Vec<_>, Vec<_>) =
        orphans.partition(|(_, run)| crate::journal::is_source_of(&here, run));
    if ours.is_empty() && !foreign.is_empty() && plan.moves_nothing() {
        return Err(MoveError::Orphaned { objects: foreign.into_iter().map(|(key, _)| key).collect() });
    }
    Ok(ours.into_iter().next().map(|(_, run)| run))
}
