//! Executes a plan phase by phase, from the beginning or from the phase of an interrupted move.

mod outcomes;
mod start;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    marker::PhantomData,
};

use api::output::{MovePhase, ProgressEvent};
use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::{DiscoverError, Discovery, NodeId, Scope, rediscover, rediscover_with_pause_status};

use crate::{
    JournalStore, MoveError, MoveJournal, MovePlan, MoveReport, MoveRequest, MoveRoute, MoveSide,
    create::ExistingObjects, journal::JournalLease, request::MAX_DISCOVERIES, verify::Verification,
};

/// The result of a move.
#[derive(Clone, Debug)]
pub struct MoveOutcome {
    /// The final journal.
    pub journal: MoveJournal,
    /// Every object of the scope by source key, with its outcome in words.
    pub objects: Vec<(ObjectKey, String)>,
    /// Accepted differences: objects that the target stores differently than sent, each with the first different path.
    pub differences: Vec<(ObjectKey, String)>,
}

/// The state that all phases of a move share.
pub(super) struct MoveContext<'a> {
    pub(super) source: ManagementCluster,
    pub(super) target: ManagementCluster,
    pub(super) request: &'a MoveRequest,
    /// The objects of the source and the decisions about them; renewed by [`MoveContext::rediscover`].
    pub(super) plan: MovePlan,
    pub(super) journal_lease: JournalLease,
    /// True if another run began this move, and its journal exists.
    pub(super) is_resumed: bool,
    /// Objects that did not report their pause in time.
    pub(super) not_acknowledged: BTreeSet<ObjectKey>,
    /// The last verification of the copies on the target.
    pub(super) verification: Option<Verification>,
    /// The outcome of each object in words.
    outcomes: BTreeMap<ObjectKey, String>,
}

/// A move after one of its phases. Each phase takes the value of the phase before, so no phase runs out of order.
pub(super) struct PhasedMove<'a, Phase> {
    pub(super) work: MoveContext<'a>,
    pub(super) existing: ExistingObjects,
    pub(super) copies: KnownCopies,
    phase: PhantomData<Phase>,
}

/// The first state of a [`PhasedMove`]: this run holds the journals of both clusters.
pub(super) struct Started;
/// The state in which objects are paused and nothing blocks the move.
pub(super) struct Paused;
/// The state in which every moving object has a copy on the target.
pub(super) struct Created;
/// The state in which the target holds the objects as sent.
pub(super) struct Verified;
/// The state in which the moved objects are deleted on the source.
pub(super) struct Deleted;

/// The copies on the target that this run knows.
#[derive(Debug, Default)]
pub(super) struct KnownCopies {
    /// Copies by uid on the source.
    by_uid: HashMap<String, TargetCopy>,
    /// Objects that the target stores differently: the first different path, by key on the target.
    pub(super) differences: BTreeMap<ObjectKey, String>,
}

/// A copy on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TargetCopy {
    /// Uid on the target.
    pub(super) uid: String,
    /// Version of the source object whose content the copy has.
    pub(super) source_version: String,
}

/// Executes a plan from the beginning, or from the phase in its journal. None if there is nothing to move. In that case
/// nothing is written, and journal and report of the last move stay.
/// # Errors
/// No object is lost: the same command resumes the move. Until the first deletion, [`super::abort_move`] undoes the
/// move.
pub async fn execute_move(
    route: MoveRoute<'_>,
    request: &MoveRequest,
    plan: MovePlan,
    store: &JournalStore,
) -> Result<Option<MoveOutcome>, MoveError> {
    let Some(started) = Box::pin(PhasedMove::start(route, request, plan, store)).await? else {
        return Ok(None);
    };
    let paused = Box::pin(started.pause()).await?;
    let deleted = Box::pin(paused.move_objects()).await?;
    Box::pin(deleted.finish()).await.map(Some)
}

impl<'a, Phase> PhasedMove<'a, Phase> {
    /// Returns the same move in the next state.
    pub(super) fn into_phase<Next>(self) -> PhasedMove<'a, Next> {
        let Self { work, existing, copies, .. } = self;
        PhasedMove { work, existing, copies, phase: PhantomData }
    }
}

impl<'a> PhasedMove<'a, Started> {
    /// Pauses the source. A move that has begun to delete has already paused the source.
    async fn pause(mut self) -> Result<PhasedMove<'a, Paused>, MoveError> {
        self.work.record_outcomes();
        if !self.work.may_have_deleted() {
            self.work.enter_phase(MovePhase::Pausing, |_| {}).await?;
            self.work.wait_for_pause().await?;
        }
        Ok(self.into_phase())
    }
}

impl<'a> PhasedMove<'a, Paused> {
    /// Creates, verifies and deletes until no moving object is left, because new objects may appear meanwhile.
    async fn move_objects(mut self) -> Result<PhasedMove<'a, Deleted>, MoveError> {
        if self.work.phase() >= MovePhase::Resuming {
            return Ok(self.into_phase());
        }
        for _ in 0..MAX_DISCOVERIES {
            let created = Box::pin(self.create()).await?;
            let verified = Box::pin(created.verify()).await?;
            let mut deleted = Box::pin(verified.delete_moved()).await?;
            deleted.work.rediscover().await?;
            if deleted.work.leaving_nodes().next().is_none() {
                return Ok(deleted);
            }
            deleted.work.wait_for_pause().await?;
            self = deleted.into_phase();
        }
        Err(self.work.keeps_changing_error())
    }
}

impl PhasedMove<'_, Deleted> {
    /// Resumes both clusters, then records the end of the move and the outcome of every object.
    async fn finish(self) -> Result<MoveOutcome, MoveError> {
        let Self { mut work, copies, .. } = self;
        work.enter_phase(MovePhase::Resuming, |_| {}).await?;
        work.resume().await?;
        let objects = work.outcomes.into_iter().collect();
        let mut report = MoveReport { run: work.journal_lease.journal.run.clone(), objects };
        work.journal_lease.finish(&report).await?;
        Ok(MoveOutcome {
            journal: work.journal_lease.journal.clone(),
            objects: std::mem::take(&mut report.objects),
            differences: copies.differences.into_iter().collect(),
        })
    }
}

impl MoveContext<'_> {
    /// Returns the moving objects that leave the source.
    pub(super) fn leaving_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.plan.selection.moving().filter(|node| self.plan.leaves_source(*node))
    }

    pub(super) fn keeps_changing_error(&self) -> MoveError {
        let objects = self.leaving_nodes().map(|node| self.key(node).clone()).collect();
        MoveError::SourceKeepsChanging { objects }
    }

    /// Returns the key of an object on the source.
    pub(super) fn key(&self, node: NodeId) -> &ObjectKey {
        &self.plan.facts(node).key
    }

    pub(super) fn phase(&self) -> MovePhase {
        self.journal_lease.journal.phase
    }

    /// True if objects may have been deleted on the source. From then on the target is valid, and objects of the source
    /// may be incomplete.
    pub(super) fn may_have_deleted(&self) -> bool {
        matches!(self.phase(), MovePhase::Deleting | MovePhase::Resuming | MovePhase::Finished)
    }

    /// Enters a phase, unless the move is already further. The changes of `note` are part of the same write.
    pub(super) async fn enter_phase(
        &mut self,
        phase: MovePhase,
        note: impl FnOnce(&mut MoveJournal),
    ) -> Result<(), MoveError> {
        if self.phase() < phase {
            let entered = |journal: &mut MoveJournal| {
                journal.phase = phase;
                note(journal);
            };
            self.journal_lease.update(entered).await?;
        }
        Ok(())
    }

    /// Discovers the source again.
    pub(super) async fn rediscover(&mut self) -> Result<(), MoveError> {
        let discovered = rediscover(&self.source, &self.scope(), &self.plan.discovered).await;
        self.apply_discovery(discovered)
    }

    /// Discovers the source again, including the pause reports of controllers.
    pub(super) async fn rediscover_with_pause_status(&mut self) -> Result<(), MoveError> {
        let discovered =
            rediscover_with_pause_status(&self.source, &self.scope(), &self.plan.discovered).await;
        self.apply_discovery(discovered)
    }

    fn scope(&self) -> Scope {
        Scope { namespaces: self.request.namespaces.clone() }
    }

    fn apply_discovery(&mut self, discovered: Result<Discovery, DiscoverError>) -> Result<(), MoveError> {
        let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
        self.plan.selection = discovered.graph.select(&self.journal_lease.journal.choice());
        self.plan.groups = discovered.graph.groups(&self.plan.selection);
        self.plan.discovered = discovered;
        self.record_outcomes();
        Ok(())
    }

    /// Reports the progress of a phase.
    pub(super) fn report_progress(&self, phase: MovePhase, done: usize, of: usize) {
        self.target.events.send(&ProgressEvent::Moving { phase, done, of });
    }
}

impl KnownCopies {
    pub(super) fn get(&self, source_uid: &str) -> Option<&TargetCopy> {
        self.by_uid.get(source_uid)
    }

    pub(super) fn insert(&mut self, source_uid: String, copied: TargetCopy) {
        self.by_uid.insert(source_uid, copied);
    }
}

#[cfg(test)]
pub(super) mod tests;
