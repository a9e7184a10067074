//! Carries plans out.
//!
//! ```text
//! observe ─► Live ─► plan ─► Pass: Ledger (what is recorded), waves of writes (Writer), barriers, purges
//!                            └─► Remover: waves of deletions, instances before definitions, Namespaces last
//! ```

mod answer;
mod barrier;
mod complete;
mod conversion;
mod dry_run;
mod gone;
mod ledger;
mod observe;
mod pass;
mod remove;
mod write;

use std::{mem, time::Instant};

use jiff::Timestamp;

pub use self::observe::{ByName, Detail, Sought};
use self::{ledger::Ledger, pass::Pass, remove::Remover};
use crate::{
    ApiError, ApplySet, BadObject, Blocker, DesiredSet, Impossible, InUse, Item, Live, Marks, ObjectKey,
    Options, Plan, PlannedSet, Record, Server, Step, StepAction, plan, plan_delete,
};

/// Applies and deletes sets of objects on a server.
#[derive(Clone, Copy, Debug)]
pub struct Engine<'a> {
    /// Where.
    pub server: &'a Server,
    /// Whose objects they are.
    pub marks: &'a Marks,
    /// How.
    pub options: &'a Options,
}

/// One run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Where the set is kept.
    pub record: &'a dyn Record,
    /// When it is kept for the first time.
    pub record_at: RecordAt,
    /// Whether a deletion still has to look for instances of others.
    pub guard: Guard,
    /// How long to wait between waves; none to stop at the first wave that is not ready, as a controller does.
    pub until: Option<Instant>,
    /// Whether to wait for the last wave too.
    pub wait_for_last: bool,
    /// When what is redundant is deleted.
    pub prune: Prune,
}

/// When objects that are no longer part of a set are deleted; always after everything that is part of it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// When all waves are ready, so that what is replaced serves until then.
    #[default]
    WhenReady,
    /// As soon as the last wave is written, ready or not: for those who do not wait, or must not leave two releases
    /// beside each other.
    AtOnce,
}

/// When a set is recorded for the first time; always before anything is written that the set alone knows of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordAt {
    /// Before everything else.
    #[default]
    Start,
    /// After the Namespaces of the lowest wave, as the record lives in one of them.
    AfterNamespaces,
}

/// Whether a deletion still has to look for instances of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// It looks, and touches nothing when there are any.
    #[default]
    Check,
    /// The caller has looked with [`Server::in_use`].
    Checked,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is done, and ready as far as was asked for.
    Done,
    /// Something is not ready, or not gone, and the time is over; the same call goes on from here.
    Waiting(Vec<Blocker>),
}

/// A run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Objects that cannot be applied anywhere, as [`crate::desire`] told the caller.
    #[error("{} cannot be applied", count(objects.len()))]
    Bad {
        /// Each with what is wrong.
        objects: Vec<BadObject>,
    },
    /// Objects that cannot be applied onto what is there, as [`Engine::plan`] told the caller.
    #[error("{} cannot be applied onto what is there", count(objects.len()))]
    Impossible {
        /// Each with the reason.
        objects: Vec<Impossible>,
    },
    /// Definitions with instances of others: nothing was touched.
    #[error("kinds that are to go are still in use")]
    InUse {
        /// Each with examples.
        definitions: Vec<InUse>,
    },
    /// Writes that failed; those that were under way beside them were finished.
    #[error("{} could not be written", count(failed.len()))]
    Writes {
        /// Each with the reason.
        failed: Vec<(ObjectKey, WriteError)>,
    },
    /// The server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Why one object could not be written. Its text names the object.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The server said no, or nothing.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Something was found there that may not be taken.
    #[error(transparent)]
    Impossible(#[from] Impossible),
}

fn count(objects: usize) -> String {
    if objects == 1 { "an object".to_owned() } else { format!("{objects} objects") }
}

impl<'a> Run<'a> {
    /// One pass as a controller does it: nothing is waited for.
    pub fn new(record: &'a dyn Record) -> Self {
        Self {
            record,
            record_at: RecordAt::Start,
            guard: Guard::Check,
            until: None,
            wait_for_last: false,
            prune: Prune::WhenReady,
        }
    }
}

impl Engine<'_> {
    /// Looks at everything a plan needs: what carries the owner's label, kind by kind and without the rest of the
    /// cluster; and by name what no list shows.
    ///
    /// Where a set is installed for the first time, next to nothing is asked: what was not seen must be new when it is
    /// written.
    pub async fn observe(
        &self,
        set: &ApplySet,
        desired: &DesiredSet,
        by_name: ByName,
    ) -> Result<Live, ApiError> {
        self.look(Sought { marks: self.marks, set, desired }, by_name, Detail::Full).await
    }

    /// Plans by the clock of this machine, see [`plan()`].
    /// # Errors
    /// Everything that stands in the way.
    pub fn plan(
        &self,
        set: ApplySet,
        desired: DesiredSet,
        live: Live,
    ) -> Result<PlannedSet, Vec<Impossible>> {
        let plan = plan(&set, &desired, &live, self.marks, self.options, Timestamp::now())?;
        Ok(PlannedSet { set, desired, live, would_be: Live::default(), plan })
    }

    /// Sends steps as a dry run, those that the server can judge: not what needs a namespace or a kind of the same set, and
    /// not what has to be deleted first. Notes the objects as they would be; an object that is replaced is judged as one
    /// that is applied.
    /// # Errors
    /// `Writes` with everything that was refused.
    pub async fn dry_run(
        &self,
        planned: &mut PlannedSet,
        is_tried: impl Fn(&Step) -> bool,
    ) -> Result<(), EngineError> {
        planned.would_be = self.judge_all(planned, is_tried).await?;
        Ok(())
    }

    /// Carries a plan out as it is: records the set, writes wave by wave, purges, deletes what is redundant.
    /// A run that was cut off is completed by another plan. Each wave waits for those before; what is redundant is deleted
    /// last, see [`Prune`]. No request is tried again when [`Run::until`] is over, but for those of the record. Only an object
    /// that is not as the plan has seen it is decided about again; the plan then names the action that was taken.
    ///
    /// The set that comes in counts as recorded. However the run ends, the record has what was done.
    /// # Errors
    /// Before anything was touched: `InUse` when a redundant definition has instances of others. `Writes` with all objects of a
    /// batch that failed; nothing behind it was begun.
    pub async fn apply(&self, planned: &mut PlannedSet, run: Run<'_>) -> Result<Outcome, EngineError> {
        let PlannedSet { set, desired, live, plan, .. } = planned;
        let server = self.server.retrying_until(run.until);
        let engine = Engine { server: &server, ..*self };
        engine.guard_redundant(set, plan, live).await?;
        let ledger = Ledger::open(set, run.record);
        ledger.set.schedule(desired, plan);
        let mut pass = Pass::prepare(engine, run, ledger, desired, mem::take(live)).await?;
        let ended = pass.carry_out(plan).await;
        let decided_again = mem::take(&mut pass.decided_again);
        let outcome = pass.end(ended).await;
        for step in &mut plan.steps {
            step.action = decided_again.get(&step.key).copied().unwrap_or(step.action);
        }
        outcome
    }

    /// Looks at the objects of a set, and plans the deletion of all of them, see [`plan_delete`].
    /// # Errors
    /// The failure of the server.
    pub async fn plan_deletion(&self, set: ApplySet) -> Result<PlannedSet, ApiError> {
        // What stays is of interest only where something is taken from it.
        let matters =
            |item: &&Item| !item.delete_policy.orphans_all() || self.marks.finalizer_for(&item.key).is_some();
        let matters = ApplySet { items: set.items.iter().filter(matters).cloned().collect() };
        let sought = Sought { marks: self.marks, set: &matters, desired: &DesiredSet::default() };
        let live = self.look(sought, ByName::Applied, Detail::Metadata).await?;
        let plan = plan_delete(&set, &live, self.marks, self.options);
        Ok(PlannedSet { set, live, plan, ..PlannedSet::default() })
    }

    /// Carries out a plan of a deletion as it is, wave by wave, guarded; what is left in the set is not gone yet.
    ///
    /// The set is recorded after each step. When the record lives in a Namespace that is deleted with the set, storing
    /// it there must succeed for an empty set, and may fail as forbidden or not found when only Namespaces are left.
    /// # Errors
    /// `InUse` before anything was touched.
    pub async fn delete(&self, planned: &mut PlannedSet, run: Run<'_>) -> Result<Outcome, EngineError> {
        let server = self.server.retrying_until(run.until);
        let engine = Engine { server: &server, ..*self };
        let PlannedSet { set, live, plan, .. } = planned;
        engine.guard(set, run.guard).await?;
        let mut ledger = Ledger::open(set, run.record);
        ledger.set.schedule_deletion();
        let mut remover = Remover { engine, ledger: &mut ledger, live, until: run.until };
        match remover.remove(&plan.steps).await {
            Ok(blockers) if blockers.is_empty() => Ok(Outcome::Done),
            Ok(blockers) => Ok(Outcome::Waiting(blockers)),
            Err(error) => {
                // What went wrong first is the news.
                let _ = ledger.keep().await;
                Err(error)
            }
        }
    }

    async fn look(&self, sought: Sought<'_>, by_name: ByName, detail: Detail) -> Result<Live, ApiError> {
        let all = self.server.observe_all(&[sought], by_name, detail).await?;
        Ok(all.into_iter().next().unwrap_or_default())
    }

    async fn guard(&self, set: &ApplySet, guard: Guard) -> Result<(), EngineError> {
        if guard == Guard::Checked {
            return Ok(());
        }
        let definitions = self.server.in_use(set, self.marks, self.options).await?;
        if definitions.is_empty() { Ok(()) } else { Err(EngineError::InUse { definitions }) }
    }

    /// The definition of a kind that others still use stays, and with it everything of the run.
    async fn guard_redundant(&self, set: &ApplySet, plan: &Plan, live: &Live) -> Result<(), EngineError> {
        let goes = |step: &&Step| step.action == StepAction::Delete && live.present(&step.key).is_some();
        let going = plan.steps.iter().filter(goes).filter_map(|step| set.item(&step.key));
        let definitions = self.server.definitions_in_use(going, self.marks).await?;
        if definitions.is_empty() { Ok(()) } else { Err(EngineError::InUse { definitions }) }
    }

    /// The selector of everything that is the owner's.
    fn owned(&self) -> String {
        format!("{}={}", self.marks.label.0, self.marks.label.1)
    }
}
