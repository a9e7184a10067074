//! Executes a plan phase by phase, from the beginning or from the phase of an interrupted move.

mod begin;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    marker::PhantomData,
};

use api::output::{MovePhase, ProgressEvent};
use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::{DiscoverError, Discovered, NodeId, Scope, discover_again, discover_at_rest};

use crate::{
    JournalKeeper, MoveError, MoveJournal, MovePlan, MoveReport, MoveRequest, MoveSide, Route,
    create::Existing, journal::HeldJournal, request::ROUNDS,
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
pub(super) struct Work<'a> {
    pub(super) source: ManagementCluster,
    pub(super) target: ManagementCluster,
    pub(super) request: &'a MoveRequest,
    /// The objects of the source and the decisions about them; renewed by [`Work::look_again`].
    pub(super) plan: MovePlan,
    pub(super) held: HeldJournal,
    /// Objects that did not report their pause in time.
    pub(super) silent: BTreeSet<ObjectKey>,
    /// The outcome of each object in words.
    words: BTreeMap<ObjectKey, String>,
}

/// A move after one of its phases. Each phase takes the value of the phase before, so no phase runs out of order.
pub(super) struct Moving<'a, Phase> {
    pub(super) work: Work<'a>,
    pub(super) existing: Existing,
    pub(super) copies: Copies,
    behind: PhantomData<Phase>,
}

/// The first state of a [`Moving`]: this run holds the journals of both clusters.
pub(super) struct Begun;
/// The state in which objects are paused and nothing blocks the move.
pub(super) struct Rested;
/// The state in which every moving object has a copy on the target.
pub(super) struct Created;
/// The state in which the target holds the objects as sent.
pub(super) struct Verified;
/// The state in which the moved objects are deleted on the source.
pub(super) struct Removed;

/// The copies on the target that this run knows.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Copies by uid on the source.
    by_uid: HashMap<String, Copied>,
    /// Objects that the target stores differently: the first different path, by key on the target.
    pub(super) differences: BTreeMap<ObjectKey, String>,
}

/// A copy on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// Uid on the target.
    pub(super) uid: String,
    /// Version of the source object whose content the copy has.
    pub(super) version: String,
}

/// Executes a plan from the beginning, or from the phase in its journal. None if there is nothing to move. In that case
/// nothing is written, and journal and report of the last move stay.
/// # Errors
/// No object is lost: the same command resumes the move. Until the first deletion, [`super::abort_move`] undoes the
/// move.
pub async fn carry_out_move(
    route: Route<'_>,
    request: &MoveRequest,
    plan: MovePlan,
    keeper: &JournalKeeper,
) -> Result<Option<MoveOutcome>, MoveError> {
    let Some(begun) = Box::pin(Moving::begin(route, request, plan, keeper)).await? else { return Ok(None) };
    let rested = Box::pin(begun.rest()).await?;
    let removed = Box::pin(rested.carry_over()).await?;
    Box::pin(removed.finish()).await.map(Some)
}

impl<'a, Phase> Moving<'a, Phase> {
    /// Returns the same move in the next state.
    pub(super) fn on<Next>(self) -> Moving<'a, Next> {
        let Self { work, existing, copies, .. } = self;
        Moving { work, existing, copies, behind: PhantomData }
    }
}

impl<'a> Moving<'a, Begun> {
    /// Pauses the source. A move that has begun to delete has already paused the source.
    async fn rest(mut self) -> Result<Moving<'a, Rested>, MoveError> {
        self.work.note_words();
        if !self.work.is_past_return() {
            self.work.enter(MovePhase::Pausing, |_| {}).await?;
            self.work.come_to_rest().await?;
        }
        Ok(self.on())
    }
}

impl<'a> Moving<'a, Rested> {
    /// Creates, verifies and deletes until no moving object is left, because new objects may appear meanwhile.
    async fn carry_over(mut self) -> Result<Moving<'a, Removed>, MoveError> {
        if self.work.phase() >= MovePhase::Resuming {
            return Ok(self.on());
        }
        for _ in 0..ROUNDS {
            let created = Box::pin(self.create()).await?;
            let verified = Box::pin(created.verify()).await?;
            let mut removed = Box::pin(verified.remove()).await?;
            removed.work.look_again().await?;
            if removed.work.leaving().next().is_none() {
                return Ok(removed);
            }
            removed.work.come_to_rest().await?;
            self = removed.on();
        }
        Err(self.work.unsettled())
    }
}

impl Moving<'_, Removed> {
    /// Resumes both clusters, then records the end of the move and the outcome of every object.
    async fn finish(self) -> Result<MoveOutcome, MoveError> {
        let Self { mut work, copies, .. } = self;
        work.enter(MovePhase::Resuming, |_| {}).await?;
        work.resume().await?;
        let objects = work.words.into_iter().collect();
        let mut report = MoveReport { run: work.held.journal.run.clone(), objects };
        work.held.finish(&report).await?;
        Ok(MoveOutcome {
            journal: work.held.journal.clone(),
            objects: std::mem::take(&mut report.objects),
            differences: copies.differences.into_iter().collect(),
        })
    }
}

impl Work<'_> {
    /// Returns the moving objects that leave the source.
    pub(super) fn leaving(&self) -> impl Iterator<Item = NodeId> {
        self.plan.selection.moving().filter(|node| self.plan.leaves(*node))
    }

    pub(super) fn unsettled(&self) -> MoveError {
        let objects = self.leaving().map(|node| self.key(node).clone()).collect();
        MoveError::Unsettled { objects }
    }

    /// Returns the key of an object on the source.
    pub(super) fn key(&self, node: NodeId) -> &ObjectKey {
        &self.plan.facts(node).key
    }

    pub(super) fn phase(&self) -> MovePhase {
        self.held.journal.phase
    }

    /// True if objects may have been deleted on the source. From then on the target is valid, and objects of the source
    /// may be incomplete.
    pub(super) fn is_past_return(&self) -> bool {
        matches!(self.phase(), MovePhase::Deleting | MovePhase::Resuming | MovePhase::Finished)
    }

    /// Enters a phase, unless the move is already further. The changes of `note` are part of the same write.
    pub(super) async fn enter(
        &mut self,
        phase: MovePhase,
        note: impl FnOnce(&mut MoveJournal),
    ) -> Result<(), MoveError> {
        if self.phase() < phase {
            let entered = |journal: &mut MoveJournal| {
                journal.phase = phase;
                note(journal);
            };
            self.held.update(entered).await?;
        }
        Ok(())
    }

    /// Discovers the source again.
    pub(super) async fn look_again(&mut self) -> Result<(), MoveError> {
        let discovered = discover_again(&self.source, &self.scope(), &self.plan.discovered).await;
        self.take(discovered)
    }

    /// Discovers the source again, including the pause reports of controllers.
    pub(super) async fn look_at_rest(&mut self) -> Result<(), MoveError> {
        let discovered = discover_at_rest(&self.source, &self.scope(), &self.plan.discovered).await;
        self.take(discovered)
    }

    fn scope(&self) -> Scope {
        Scope { namespaces: self.request.namespaces.clone() }
    }

    fn take(&mut self, discovered: Result<Discovered, DiscoverError>) -> Result<(), MoveError> {
        let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
        self.plan.selection = discovered.graph.select(&self.held.journal.choice());
        self.plan.groups = discovered.graph.groups(&self.plan.selection);
        self.plan.discovered = discovered;
        self.note_words();
        Ok(())
    }

    /// Reports the progress of a phase.
    pub(super) fn tell(&self, phase: MovePhase, done: usize, of: usize) {
        self.target.events.send(&ProgressEvent::Moving { phase, done, of });
    }
}

impl Copies {
    pub(super) fn get(&self, source_uid: &str) -> Option<&Copied> {
        self.by_uid.get(source_uid)
    }

    pub(super) fn insert(&mut self, source_uid: String, copied: Copied) {
        self.by_uid.insert(source_uid, copied);
    }
}

#[cfg(test)]
pub(super) mod tests;
