//! The execution of a plan: writes, barriers, purges and removals.

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use manifest::Object;
use serde_json::json;

use super::{
    Engine, EngineError, EngineOutcome, PruneTiming, RunOptions, SaveAt, WriteError,
    recorder::Recorder,
    remove::Remover,
    write::{Target, WriteOutcome, Writer},
};
use crate::{
    ApiError, ApiKind, ApplyPlan, Blocker, DesiredObject, DesiredSet, ItemPhase, LiveObjects, ObjectKey,
    ObjectPolicies, Observation, PlanStep, Policies, ServedKinds, Status, StatusHints, StepAction,
    UpdatePolicy, status_of,
};

/// The state of a run.
pub(super) struct ApplyRun<'a> {
    pub(super) engine: Engine<'a>,
    pub(super) run: RunOptions<'a>,
    pub(super) recorder: Recorder<'a>,
    pub(super) live: LiveObjects,
    desired: BTreeMap<&'a ObjectKey, &'a DesiredObject>,
    pub(super) kinds: Arc<ServedKinds>,
    /// Objects that are not ready, with their last status.
    pub(super) unready: BTreeMap<ObjectKey, Status>,
    /// True if the schedule is recorded.
    is_saved: bool,
    /// The actions on objects that differ from the plan's view.
    pub(super) replanned_actions: BTreeMap<ObjectKey, StepAction>,
    /// Definitions written since the last discovery of kinds.
    pub(super) written_definitions: Vec<ObjectKey>,
}

impl<'a> ApplyRun<'a> {
    /// Prepares a run.
    pub(super) async fn prepare(
        engine: Engine<'a>,
        run: RunOptions<'a>,
        ledger: Recorder<'a>,
        desired: &'a DesiredSet,
        live: LiveObjects,
    ) -> Result<Self, ApiError> {
        let kinds = engine.server.kinds().await?;
        let desired = desired.objects.iter().map(|object| (&object.key, object)).collect();
        let (unready, decided_again) = (BTreeMap::new(), BTreeMap::new());
        let (recorded, defined) = (false, Vec::new());
        Ok(Self {
            engine,
            run,
            recorder: ledger,
            live,
            desired,
            kinds,
            unready,
            is_saved: recorded,
            replanned_actions: decided_again,
            written_definitions: defined,
        })
    }

    /// Ends a run, and records all completed actions even after an error.
    pub(super) async fn finish(
        mut self,
        ended: Result<EngineOutcome, EngineError>,
    ) -> Result<EngineOutcome, EngineError> {
        let kept = self.recorder.save().await;
        self.update_known_kinds();
        // The first error matters most.
        let outcome = ended?;
        kept?;
        Ok(outcome)
    }

    /// Updates the kinds of the server, because later requests may concern new kinds.
    fn update_known_kinds(&self) {
        let server = self.engine.server;
        if !self.written_definitions.iter().all(ObjectKey::is_crd) {
            return server.forget_kinds();
        }
        if !self.written_definitions.is_empty() {
            // Only established definitions are served.
            let established = self.written_definitions.iter().filter(|key| !self.unready.contains_key(*key));
            let are_all = established.clone().count() == self.written_definitions.len();
            server.add_established_kinds(established.filter_map(|key| self.live.present(key)), are_all);
        }
    }

    pub(super) async fn execute(&mut self, plan: &ApplyPlan) -> Result<EngineOutcome, EngineError> {
        let (writes, removals) =
            plan.steps.split_at(plan.steps.partition_point(|step| !step.action.is_removal()));
        if self.run.save_at == SaveAt::Start {
            self.save_once().await?;
        }
        let mut blockers = self.resume_purges(writes).await?;
        let mut waves = writes.chunk_by(|a, b| a.wave == b.wave).peekable();
        while let Some(wave) = waves.next() {
            if !blockers.is_empty() {
                return Ok(EngineOutcome::Waiting(blockers));
            }
            let prunes_when_ready = !removals.is_empty() && self.run.prune == PruneTiming::WhenReady;
            let something_follows = waves.peek().is_some() || prunes_when_ready;
            blockers = self.apply_wave(wave, writes, something_follows).await?;
        }
        if blockers.is_empty() {
            self.save_once().await?;
            blockers = self.remove(removals).await?;
        }
        if blockers.is_empty() && self.run.wait_for_last {
            blockers = self.wait_for(writes).await?;
        }
        Ok(if blockers.is_empty() { EngineOutcome::Done } else { EngineOutcome::Waiting(blockers) })
    }

    /// Writes a wave, and deletes completed objects at its end. Returns the objects that block the wave.
    async fn apply_wave(
        &mut self,
        wave: &[PlanStep],
        writes: &[PlanStep],
        something_follows: bool,
    ) -> Result<Vec<Blocker>, EngineError> {
        let order = wave.first().map(|step| step.wave);
        let purged: Vec<_> = writes
            .iter()
            .filter(|step| step.purge_wave == order && step.purge_wave.is_some())
            .filter(|step| step.action != StepAction::Completed && !self.is_completed(&step.key))
            .collect();
        let mut parts = wave.chunk_by(|a, b| a.stage == b.stage).peekable();
        while let Some(part) = parts.next() {
            let mut blockers = self.write_stage(part).await?;
            if blockers.is_empty() && (something_follows || !purged.is_empty() || parts.peek().is_some()) {
                blockers = self.wait_for(part).await?;
            }
            if !blockers.is_empty() {
                return Ok(blockers);
            }
        }
        self.purge(&purged).await
    }

    /// Records the schedule once.
    async fn save_once(&mut self) -> Result<(), ApiError> {
        if !self.is_saved {
            self.recorder.save().await?;
            self.is_saved = true;
        }
        Ok(())
    }

    async fn write_stage(&mut self, part: &[PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        let mut blockers = self.wait_until_served(part).await?;
        for batch in part.chunk_by(|a, b| a.priority == b.priority) {
            if !blockers.is_empty() {
                break;
            }
            if !batch.iter().all(|step| step.key.is_namespace()) {
                self.save_once().await?;
            }
            blockers = self.write_batch(batch).await?;
        }
        Ok(blockers)
    }

    /// Writes steps concurrently. If one write fails, the others complete, and the error includes all failed objects.
    async fn write_batch(&mut self, batch: &[PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        let written: Vec<&PlanStep> = batch.iter().filter(|step| step.action.is_write()).collect();
        let effects = join_all(written.iter().map(|step| self.write(step))).await;
        let (mut blockers, mut failed) = (Vec::new(), Vec::new());
        for (step, effect) in written.into_iter().zip(effects) {
            match effect {
                Ok(WriteOutcome::Written(object, how, action)) => {
                    if action != step.action {
                        self.replanned_actions.insert(step.key.clone(), action);
                    }
                    let status = self.status(&step.key, &object);
                    let owned = self.engine.marks.owned_fields(&object, &self.engine.options.field_manager);
                    self.recorder.record_write(&step.key, how, owned, &status);
                    self.record_object(&step.key, object, status);
                    if step.key.is_crd() || step.key.is_api_service() {
                        self.written_definitions.push(step.key.clone());
                    }
                }
                Ok(WriteOutcome::Blocked(blocker)) => blockers.push(blocker),
                Err(error) => failed.push((step.key.clone(), error)),
            }
        }
        for step in
            batch.iter().filter(|step| !step.action.is_write() && step.action != StepAction::Completed)
        {
            if let Some(object) = self.live.present(&step.key).cloned()
                && !self.is_completed(&step.key)
            {
                let status = self.status(&step.key, &object);
                self.recorder.record_status(&step.key, &status);
                self.record_object(&step.key, object, status);
            }
        }
        if failed.is_empty() { Ok(blockers) } else { Err(EngineError::Writes { failed }) }
    }

    async fn write(&self, step: &PlanStep) -> Result<WriteOutcome, WriteError> {
        let kind = self.kind(&step.key)?;
        let missing;
        let desired = if let Some(desired) = self.desired.get(&step.key) {
            *desired
        } else {
            missing = bare_namespace(&step.key);
            &missing
        };
        let Engine { server, marks, options } = self.engine;
        let writer = Writer { server, marks, options, deadline: self.run.deadline };
        let target = Target { kind, desired, item: self.recorder.set.item(&step.key), action: step.action };
        if step.unowned {
            writer.create_unowned(target, self.live.get(&step.key)).await
        } else {
            writer.write(target, self.live.get(&step.key)).await
        }
    }

    pub(super) fn kind(&self, key: &ObjectKey) -> Result<&ApiKind, ApiError> {
        let version = self.desired.get(key).map_or("v1", |desired| &desired.version);
        let kind = key.group_kind();
        self.kinds
            .version(&kind, version)
            .ok_or_else(|| ApiError::UnknownKind { action: format!("write {key}"), kind: kind.to_string() })
    }

    pub(super) fn hints(&self, key: &ObjectKey) -> StatusHints {
        self.desired.get(key).map(|desired| desired.hints.clone()).unwrap_or_default()
    }

    fn status(&self, key: &ObjectKey, object: &Object) -> Status {
        status_of(object, &self.hints(key))
    }

    fn record_object(&mut self, key: &ObjectKey, object: Object, status: Status) {
        if self.desired.contains_key(key) && !status.is_ready() {
            self.unready.insert(key.clone(), status);
        } else {
            self.unready.remove(key);
        }
        self.live.objects.insert(key.clone(), Observation::Present(object));
    }

    pub(super) fn remover(&mut self) -> Remover<'a, '_> {
        Remover {
            engine: self.engine,
            recorder: &mut self.recorder,
            live: &self.live,
            deadline: self.run.deadline,
        }
    }

    fn is_completed(&self, key: &ObjectKey) -> bool {
        self.recorder.set.item(key).is_some_and(|item| item.phase == ItemPhase::Completed)
    }
}

/// Returns a namespace that objects need and no set includes. It has no owner.
fn bare_namespace(key: &ObjectKey) -> DesiredObject {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": key.name}});
    let policies = Policies { update: UpdatePolicy::SsaMerge, ..Policies::default() };
    DesiredObject {
        key: key.clone(),
        version: "v1".to_owned(),
        object: Object::try_from(object).unwrap_or_default(),
        policies: ObjectPolicies { policies, ..ObjectPolicies::default() },
        hints: StatusHints::default(),
        digest: String::new(),
        managed_types: Vec::new(),
    }
}
