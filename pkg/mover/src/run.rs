//! Carrying a plan out, phase by phase, from the beginning or from where it was cut off.

mod begin;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// A move that is carried out.
pub(super) struct Work<'a> {
    pub(super) source: ManagementCluster,
    pub(super) target: ManagementCluster,
    pub(super) request: &'a MoveRequest,
    /// What there is on the source, and what becomes of it; made anew by [`Work::look_again`].
    pub(super) plan: MovePlan,
    pub(super) held: HeldJournal,
    /// What moves and was looked for on the target, by key there.
    pub(super) known: BTreeSet<ObjectKey>,
    /// What moves and was on the target when it was planned, by key there.
    pub(super) existed: BTreeSet<ObjectKey>,
    /// The same as it is there, once it was looked at.
    pub(super) existing: Option<Existing>,
    pub(super) copies: Copies,
    /// What was waited for to say that it rests, and did not.
    pub(super) silent: BTreeSet<ObjectKey>,
    /// What becomes of each object, in words.
    words: BTreeMap<ObjectKey, String>,
}

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
    let Some(mut work) = Box::pin(Work::begin(route, request, plan, keeper)).await? else { return Ok(None) };
    work.note_words();
    if !work.is_past_return() {
        work.enter(MovePhase::Pausing).await?;
        work.come_to_rest().await?;
    }
    if work.phase() < MovePhase::Resuming {
        work.carry_over().await?;
    }
    work.enter(MovePhase::Resuming).await?;
    work.resume().await?;
    work.finish().await.map(Some)
}

impl Work<'_> {
    /// Creates, verifies and deletes until nothing is left that moves: while objects were created, others may have come.
    async fn carry_over(&mut self) -> Result<(), MoveError> {
        for _ in 0..ROUNDS {
            self.enter(MovePhase::Creating).await?;
            self.create().await?;
            self.enter(MovePhase::Verifying).await?;
            self.verify().await?;
            self.enter(MovePhase::Deleting).await?;
            self.remove().await?;
            self.look_again().await?;
            if self.leaving().next().is_none() {
                return Ok(());
            }
            self.come_to_rest().await?;
        }
        Err(self.unsettled())
    }

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

    /// Enters a phase, unless the move is further already.
    async fn enter(&mut self, phase: MovePhase) -> Result<(), MoveError> {
        if self.phase() < phase {
            let (objects, existed) = (self.plan.selection.moving().count(), &self.existed);
            self.held
                .update(|journal| {
                    journal.phase = phase;
                    if phase == MovePhase::Creating {
                        journal.objects = objects;
                        journal.existed = existed.iter().cloned().collect();
                        journal.made_namespaces.clone_from(&self.plan.new_namespaces);
                    }
                })
                .await?;
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

    /// Notes that all is done, and what became of everything.
    async fn finish(mut self) -> Result<MoveOutcome, MoveError> {
        let objects: Vec<_> = std::mem::take(&mut self.words).into_iter().collect();
        let mut report = MoveReport { run: self.held.journal.run.clone(), objects };
        self.held.finish(&report).await?;
        Ok(MoveOutcome {
            journal: self.held.journal.clone(),
            objects: std::mem::take(&mut report.objects),
            differences: self.copies.differences.into_iter().collect(),
        })
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
