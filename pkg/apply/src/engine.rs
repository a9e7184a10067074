//! Executes plans.
//!
//! ```text
//! observe ─► Live ─► plan ─► Pass: Ledger (the record), waves of writes (Writer), barriers, purges
//!                            └─► Remover: waves of deletions, instances before definitions, Namespaces last
//! ```

mod apply_run;
mod barrier;
mod conversion;
mod dry_run;
mod error_reaction;
mod observe;
mod purge;
mod recorder;
mod remove;
mod termination;
mod write;

use std::{mem, time::Instant};

use jiff::Timestamp;
use manifest::Object;

pub use self::observe::{ObservationTarget, ReadByName, ReadDetail};
use self::{apply_run::ApplyRun, recorder::Recorder, remove::Remover};
use crate::{
    ApiError, ApplyOptions, ApplyPlan, ApplySet, ApplySetItem, ApplySetStore, Blocker, DefinitionInUse,
    DesiredSet, InvalidObject, LiveObjects, ObjectKey, OwnershipMarks, PlanError, PlanStep, PlannedSet,
    Server, StepAction, build_desired_set, plan, plan_delete,
};

/// An engine that applies and deletes sets of objects on a server.
#[derive(Clone, Copy, Debug)]
pub struct Engine<'a> {
    /// The server of the objects.
    pub server: &'a Server,
    /// The marks of the owner of the objects.
    pub marks: &'a OwnershipMarks,
    /// The options of plans and writes.
    pub options: &'a ApplyOptions,
}

/// The settings of one run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The storage of the set.
    pub store: &'a dyn ApplySetStore,
    /// The time of the first record of the set.
    pub save_at: SaveAt,
    /// The check for instances of other owners before a deletion.
    pub in_use_check: InUseCheck,
    /// The deadline of waits between waves. None to stop at the first wave that is not ready, as a controller does.
    pub deadline: Option<Instant>,
    /// True to wait for the last wave too.
    pub wait_for_last: bool,
    /// The time to delete redundant objects.
    pub prune: PruneTiming,
}

/// The time to delete objects that are no longer part of a set. All objects of the set are written before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PruneTiming {
    /// Delete redundant objects after all waves are ready, so that replaced objects serve until then.
    #[default]
    WhenReady,
    /// Delete redundant objects after the last wave is written, ready or not. For callers that do not wait, or that
    /// must not keep two releases side by side.
    Immediately,
}

/// The time to record a set first. It always precedes writes that only the set knows of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveAt {
    /// Record the set before all writes.
    #[default]
    Start,
    /// Record the set after the Namespaces of the lowest wave, because the record lives in one of them.
    AfterNamespaces,
}

/// The check for instances of other owners before a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InUseCheck {
    /// The deletion checks for instances, and fails without changes if there are any.
    #[default]
    Perform,
    /// The caller has checked with [`Server::in_use`].
    AlreadyDone,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineOutcome {
    /// The run is complete, and ready as far as requested.
    Done,
    /// Some objects are not ready, or not gone, at the deadline. The same call resumes the run.
    Waiting(Vec<Blocker>),
}

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum EngineError {
    /// Objects that cannot be applied anywhere, as reported by [`crate::build_desired_set`].
    #[error("cannot apply {}", count(objects.len()))]
    InvalidObjects { objects: Vec<InvalidObject> },
    /// Objects that cannot be applied onto existing objects, as reported by [`Engine::plan`].
    #[error("cannot apply {} to this cluster", count(objects.len()))]
    Plan { objects: Vec<PlanError> },
    /// Definitions with instances of other owners. The run changed nothing.
    #[error("cannot delete definitions: objects of other owners use them")]
    InUse { definitions: Vec<DefinitionInUse> },
    /// Failed writes. Concurrent writes were completed.
    #[error("cannot write {}", count(failed.len()))]
    Writes { failed: Vec<(ObjectKey, WriteError)> },
    /// The failure of the server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// An error of a write. Its text names the object.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The server refused the write or did not answer.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The existing object must not be taken over.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

fn count(objects: usize) -> String {
    if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") }
}

impl<'a> RunOptions<'a> {
    /// Returns the settings of one pass of a controller, which does not wait.
    pub fn new(record: &'a dyn ApplySetStore) -> Self {
        Self {
            store: record,
            save_at: SaveAt::Start,
            in_use_check: InUseCheck::Perform,
            deadline: None,
            wait_for_last: false,
            prune: PruneTiming::WhenReady,
        }
    }
}

impl Engine<'_> {
    /// Reads all objects that a plan needs. Objects with the owner's label are listed kind by kind, and all others are
    /// read by name.
    ///
    /// A first installation needs few requests: objects that were not read must be new when they are written.
    pub async fn observe(
        &self,
        set: &ApplySet,
        desired: &DesiredSet,
        by_name: ReadByName,
    ) -> Result<LiveObjects, ApiError> {
        self.observe_set(ObservationTarget { marks: self.marks, set, desired }, by_name, ReadDetail::Full)
            .await
    }

    /// Prepares objects with [`build_desired_set`], reads the live objects, and plans the change from an applied set.
    /// # Errors
    /// All invalid objects, then all obstacles to the plan.
    pub async fn plan_objects(
        &self,
        set: ApplySet,
        objects: Vec<Object>,
        by_name: ReadByName,
    ) -> Result<PlannedSet, EngineError> {
        let kinds = self.server.kinds().await?;
        let desired = build_desired_set(objects, &kinds, self.marks, self.options)
            .map_err(|objects| EngineError::InvalidObjects { objects })?;
        let live = self.observe(&set, &desired, by_name).await?;
        self.plan(set, desired, live).map_err(|objects| EngineError::Plan { objects })
    }

    /// Plans by the clock of this machine, see [`plan()`].
    /// # Errors
    /// All obstacles to the plan.
    pub fn plan(
        &self,
        set: ApplySet,
        desired: DesiredSet,
        live: LiveObjects,
    ) -> Result<PlannedSet, Vec<PlanError>> {
        let plan = plan(&set, &desired, &live, self.marks, self.options, Timestamp::now())?;
        Ok(PlannedSet { set, desired, live, dry_run: LiveObjects::default(), plan })
    }

    /// Sends steps as a dry run, if the server can check them. It cannot check steps that need a namespace or a kind of
    /// the same set, or a deletion first. Stores the resulting objects in `dry_run`; a replacement is checked as an
    /// apply.
    /// # Errors
    /// `WriteGuard` with all refused objects.
    pub async fn dry_run(
        &self,
        planned: &mut PlannedSet,
        is_tried: impl Fn(&PlanStep) -> bool,
    ) -> Result<(), EngineError> {
        planned.dry_run = self.dry_run_all(planned, is_tried).await?;
        Ok(())
    }

    /// Executes a plan as it stands: records the set, writes wave by wave, purges, deletes redundant objects. An
    /// interrupted run is completed by another plan. Each wave waits for the waves before; redundant objects are
    /// deleted last, see [`PruneTiming`]. After [`RunOptions::deadline`], no request is retried, except requests of the record. Only an
    /// object that differs from the plan's view is decided again; the plan then names the executed action.
    ///
    /// The given set counts as recorded. However the run ends, the record includes all completed actions.
    /// # Errors
    /// `DefinitionInUse` before any change, if a redundant definition has instances of other owners. `WriteGuard` with all failed
    /// objects of a batch; later batches were not started.
    pub async fn apply(
        &self,
        planned: &mut PlannedSet,
        run: RunOptions<'_>,
    ) -> Result<EngineOutcome, EngineError> {
        let PlannedSet { set, desired, live, plan, .. } = planned;
        let server = self.server.retrying_until(run.deadline);
        let engine = Engine { server: &server, ..*self };
        engine.check_redundant_in_use(set, plan, live).await?;
        let ledger = Recorder::open(set, run.store);
        ledger.set.schedule(desired, plan);
        let mut pass = ApplyRun::prepare(engine, run, ledger, desired, mem::take(live)).await?;
        let ended = pass.execute(plan).await;
        let decided_again = mem::take(&mut pass.replanned_actions);
        let outcome = pass.finish(ended).await;
        for step in &mut plan.steps {
            step.action = decided_again.get(&step.key).copied().unwrap_or(step.action);
        }
        outcome
    }

    /// Reads the objects of a set, and plans the deletion of all of them, see [`plan_delete`].
    /// # Errors
    /// The failure of the server.
    pub async fn plan_deletion(&self, set: ApplySet) -> Result<PlannedSet, ApiError> {
        // Objects that stay only matter if a finalizer is removed from them.
        let relevant = |item: &&ApplySetItem| {
            !item.delete_policy.orphans_on_delete() || self.marks.finalizer_for(&item.key).is_some()
        };
        let matters = ApplySet { items: set.items.iter().filter(relevant).cloned().collect() };
        let sought = ObservationTarget { marks: self.marks, set: &matters, desired: &DesiredSet::default() };
        let live = self.observe_set(sought, ReadByName::Applied, ReadDetail::Metadata).await?;
        let plan = plan_delete(&set, &live, self.marks, self.options);
        Ok(PlannedSet { set, live, plan, ..PlannedSet::default() })
    }

    /// Executes the plan of a deletion as it stands, wave by wave, with its guard. Objects that remain in the set are
    /// not gone yet.
    ///
    /// The set is recorded after each step. The record may live in a Namespace that is deleted with the set. Then an
    /// empty set must be stored without an error. If only Namespaces remain, storing may fail as forbidden or not
    /// found.
    /// # Errors
    /// `DefinitionInUse` before any change.
    pub async fn delete(
        &self,
        planned: &mut PlannedSet,
        run: RunOptions<'_>,
    ) -> Result<EngineOutcome, EngineError> {
        let server = self.server.retrying_until(run.deadline);
        let engine = Engine { server: &server, ..*self };
        let PlannedSet { set, live, plan, .. } = planned;
        engine.check_in_use(set, run.in_use_check).await?;
        let mut ledger = Recorder::open(set, run.store);
        ledger.set.schedule_deletion();
        let mut remover = Remover { engine, recorder: &mut ledger, live, deadline: run.deadline };
        match remover.remove(&plan.steps).await {
            Ok(blockers) if blockers.is_empty() => Ok(EngineOutcome::Done),
            Ok(blockers) => Ok(EngineOutcome::Waiting(blockers)),
            Err(error) => {
                // The first error matters most.
                let _ = ledger.save().await;
                Err(error)
            }
        }
    }

    async fn observe_set(
        &self,
        sought: ObservationTarget<'_>,
        by_name: ReadByName,
        detail: ReadDetail,
    ) -> Result<LiveObjects, ApiError> {
        let all = self.server.observe_all(&[sought], by_name, detail).await?;
        Ok(all.into_iter().next().unwrap_or_default())
    }

    pub(crate) async fn check_in_use(&self, set: &ApplySet, guard: InUseCheck) -> Result<(), EngineError> {
        if guard == InUseCheck::AlreadyDone {
            return Ok(());
        }
        let definitions = self.server.in_use(set, self.marks, self.options).await?;
        if definitions.is_empty() { Ok(()) } else { Err(EngineError::InUse { definitions }) }
    }

    /// Fails if a redundant definition has instances of other owners. The run then changes nothing.
    async fn check_redundant_in_use(
        &self,
        set: &ApplySet,
        plan: &ApplyPlan,
        live: &LiveObjects,
    ) -> Result<(), EngineError> {
        let goes = |step: &&PlanStep| step.action == StepAction::Delete && live.present(&step.key).is_some();
        let deleted = plan.steps.iter().filter(goes).filter_map(|step| set.item(&step.key));
        let definitions = self.server.definitions_in_use(deleted, std::slice::from_ref(self.marks)).await?;
        if definitions.is_empty() { Ok(()) } else { Err(EngineError::InUse { definitions }) }
    }

    /// Returns the selector of all objects of the owner.
    fn owner_selector(&self) -> String {
        format!("{}={}", self.marks.label.0, self.marks.label.1)
    }
}
