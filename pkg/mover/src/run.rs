//! Carrying a plan out, phase by phase, from the beginning or from where it was cut off.

mod begin;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    marker::PhantomData,
};

use api::output::{MovePhase, ProgressEvent};
use apply::ObjectKey;
use inventory::ManagementCluster;
use workload::{DiscoverError, Discovered, Fate, NodeId, Scope, discover_again, discover_at_rest};

use crate::{
    JournalKeeper, MoveError, MoveJournal, MovePlan, MoveReport, MoveRequest, MoveSide, Route,
    create::Existing, journal::HeldJournal, request::ROUNDS,
};

/// What a move came to.
#[derive(Clone, Debug)]
pub struct MoveOutcome {
    /// The journal as it is in the end.
    pub journal: MoveJournal,
    /// Every object of the scope, by key on the source, with what became of it in words.
    pub objects: Vec<(ObjectKey, String)>,
    /// Objects the target keeps in another way than they were sent, where that was accepted.
    pub differences: Vec<(ObjectKey, String)>,
}

/// What a move works with in every phase.
pub(super) struct Work<'a> {
    pub(super) source: ManagementCluster,
    pub(super) target: ManagementCluster,
    pub(super) request: &'a MoveRequest,
    /// What there is on the source, and what becomes of it; made anew by [`Work::look_again`].
    pub(super) plan: MovePlan,
    pub(super) held: HeldJournal,
    /// What was waited for to say that it rests, and did not.
    pub(super) silent: BTreeSet<ObjectKey>,
    /// What becomes of each object, in words.
    words: BTreeMap<ObjectKey, String>,
}

/// A move behind one of its phases. Each phase takes the value of the phase before it, so none runs out of order.
pub(super) struct Moving<'a, Phase> {
    pub(super) work: Work<'a>,
    pub(super) existing: Existing,
    pub(super) copies: Copies,
    behind: PhantomData<Phase>,
}

/// The phase behind a [`Moving`]: the journals of both clusters were taken.
pub(super) struct Begun;
/// Objects rest, and nothing holds the move up.
pub(super) struct Rested;
/// Every object that moves has a copy on the target.
pub(super) struct Created;
/// The target holds what was sent.
pub(super) struct Verified;
/// What moved is deleted on the source.
pub(super) struct Removed;

/// What the target holds of the source, as far as this run has seen.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// By uid on the source.
    by_uid: HashMap<String, Copied>,
    /// What the target keeps in another way: the first path, by key on the target.
    pub(super) differences: BTreeMap<ObjectKey, String>,
}

/// A copy on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// Its uid there.
    pub(super) uid: String,
    /// The version of the source it has the content of.
    pub(super) version: String,
}

/// Carries a plan out, from the beginning or from where its journal says it is. None when there is nothing to move: then
/// nothing is written, and the journal and the report of the last move stay.
/// # Errors
/// Nothing is lost: the same command goes on; until the first deletion, [`super::abort_move`] undoes.
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
    /// The same move, one phase on.
    pub(super) fn on<Next>(self) -> Moving<'a, Next> {
        let Self { work, existing, copies, .. } = self;
        Moving { work, existing, copies, behind: PhantomData }
    }
}

impl<'a> Moving<'a, Begun> {
    /// Puts the source to rest. A move that has begun to delete there rests already.
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
    /// Creates, verifies and deletes until nothing is left that moves: while objects were created, others may have come.
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
    /// Resumes both clusters, and notes that all is done and what became of everything.
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
    /// What moves and does not stay on the source as well.
    pub(super) fn leaving(&self) -> impl Iterator<Item = NodeId> {
        let moving = self.plan.selection.moving();
        moving.filter(|node| matches!(self.plan.selection.fate(*node), Fate::Moves { kept: None, .. }))
    }

    pub(super) fn unsettled(&self) -> MoveError {
        let objects = self.leaving().map(|node| self.key(node).clone()).collect();
        MoveError::Unsettled { objects }
    }

    /// The key of an object on the source.
    pub(super) fn key(&self, node: NodeId) -> &ObjectKey {
        &self.plan.discovered.graph.node(node).facts.key
    }

    pub(super) fn phase(&self) -> MovePhase {
        self.held.journal.phase
    }

    /// Whether something may have been deleted on the source: then the target is right, and what is left of the source
    /// may be half of what it was.
    pub(super) fn is_past_return(&self) -> bool {
        matches!(self.phase(), MovePhase::Deleting | MovePhase::Resuming | MovePhase::Finished)
    }

    /// Enters a phase, unless the move is further already. What is to be noted with it is in the same write.
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

    /// Discovers the source once more.
    pub(super) async fn look_again(&mut self) -> Result<(), MoveError> {
        let discovered = discover_again(&self.source, &self.scope(), &self.plan.discovered).await;
        self.take(discovered)
    }

    /// The same, with what controllers say of the pause.
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

    /// Tells how far a phase is.
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
