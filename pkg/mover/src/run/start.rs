//! Starts a move: a new one, an interrupted one, or one whose journal is lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
};

use api::output::MovePhase;
use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::ContentFacts;

use super::{KnownCopies, MoveContext, PhasedMove, Started};
use crate::{
    ClusterChoice, JournalStore, MoveError, MoveJournal, MovePlan, MoveRequest, MoveRoute, MoveSide,
    TargetEffect,
    create::ExistingObjects,
    error::api_error,
    journal::{JournalLease, find_move_journal, source_digest},
    mark::marked_objects,
    request::with_retries,
};

impl<'a> PhasedMove<'a, Started> {
    /// Takes the journals of both clusters. None if there is nothing to do.
    pub(super) async fn start(
        route: MoveRoute<'_>,
        request: &'a MoveRequest,
        mut plan: MovePlan,
        store: &JournalStore,
    ) -> Result<Option<Self>, MoveError> {
        let (source, target) =
            (with_retries(route.source, request.timeout), with_retries(route.target, request.timeout));
        let (journal, is_resumed) = if let Some(journal) = plan.unfinished.take() {
            (journal, true)
        } else {
            let lost = find_lost_run(route, request, &plan).await?;
            if lost.is_none() && plan.has_nothing_to_move() {
                return Ok(None);
            }
            (new_journal(&source, &target, request, &plan, lost, store).await?, false)
        };
        let journal_lease = JournalLease::acquire(&source, &target, journal, store).await?;
        let existing = plan.target_effects.iter().filter(|(_, there)| **there != TargetEffect::Create);
        let existed = existing.map(|(node, _)| plan.key_on_target(*node, request)).collect();
        let known = plan.target_effects.keys().map(|node| plan.key_on_target(*node, request)).collect();
        let (not_acknowledged, outcomes) = (BTreeSet::new(), BTreeMap::new());
        Ok(Some(Self {
            work: MoveContext {
                source,
                target,
                request,
                plan,
                journal_lease,
                is_resumed,
                not_acknowledged,
                verification: None,
                outcomes,
            },
            existing: ExistingObjects::new(known, existed),
            copies: KnownCopies::default(),
            phase: PhantomData,
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
    store: &JournalStore,
) -> Result<MoveJournal, MoveError> {
    let here = source.identity().await.map_err(api_error(MoveSide::Source))?;
    let there = target.identity().await.map_err(api_error(MoveSide::Target))?;
    let mut journal = MoveJournal::new(here, there, request, chosen_clusters(request, plan), store);
    if let Some(run) = lost {
        (journal.run, journal.is_recovered) = (run, true);
    }
    Ok(journal)
}

/// Returns the chosen Clusters by name, because Clusters that were chosen by labels may be deleted later.
fn chosen_clusters(request: &MoveRequest, plan: &MovePlan) -> Option<BTreeSet<String>> {
    if request.clusters == ClusterChoice::All {
        return None;
    }
    let facts = plan.selection.moving().map(|node| &plan.discovered.graph.node(node).facts);
    let clusters = facts.filter(|facts| matches!(facts.content, ContentFacts::Cluster(_)));
    Some(clusters.map(|facts| format!("{}/{}", facts.key.namespace, facts.key.name)).collect())
}

/// Returns the run of a move whose journal is lost, from the mark on an object that the move paused. Marked objects of
/// the target count only if they came from this source and no longer exist there.
/// # Errors
/// `PausedByOtherMove` if nothing is left to move, and a move out of another cluster has paused Clusters of the target. It is
/// unknown if that move is complete.
async fn find_lost_run(
    MoveRoute { source, target }: MoveRoute<'_>,
    request: &MoveRequest,
    plan: &MovePlan,
) -> Result<Option<String>, MoveError> {
    let graph = &plan.discovered.graph;
    let here = plan.selection.moving().find_map(|node| graph.node(node).facts.paused_by.clone());
    if here.is_some() {
        return Ok(here);
    }
    let namespaces: BTreeSet<&String> =
        request.namespaces.iter().map(|name| request.namespace_map.get(name).unwrap_or(name)).collect();
    let on_source: BTreeSet<ObjectKey> =
        graph.iter().map(|(node, _)| plan.key_on_target(node, request)).collect();
    let marked = marked_objects(target).await.map_err(api_error(MoveSide::Target))?;
    let orphans = marked.into_iter().filter(|(key, run)| {
        namespaces.contains(&key.namespace) && !on_source.contains(key) && source_digest(run).is_some()
    });
    let here = source.identity().await.map_err(api_error(MoveSide::Source))?;
    let (ours, foreign): (Vec<_>, Vec<_>) =
        orphans.partition(|(_, run)| crate::journal::is_run_of(&here, run));
    if ours.is_empty() && !foreign.is_empty() && plan.has_nothing_to_move() {
        return Err(MoveError::PausedByOtherMove {
            objects: foreign.into_iter().map(|(key, _)| key).collect(),
        });
    }
    let Some((_, run)) = ours.into_iter().next() else { return Ok(None) };
    // Overwritten Clusters keep the mark of an aborted move.
    let last = Box::pin(find_move_journal(Some(source), Some(target))).await?;
    let is_aborted = last.is_some_and(|journal| journal.run == run && journal.phase == MovePhase::Aborted);
    Ok((!is_aborted).then_some(run))
}
