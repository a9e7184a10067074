//! The execution of a plan: writes, barriers, purges and removals.

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use manifest::Object;
use serde_json::json;

use super::{
    Engine, EngineError, Outcome, Prune, RecordAt, Run, WriteError,
    ledger::Ledger,
    remove::Remover,
    write::{Effect, Target, Writer},
};
use crate::{
    ApiError, ApiKind, Blocker, Desired, DesiredSet, Hints, Kinds, Live, ObjectKey, ObjectPolicies,
    Observation, Phase, Plan, Policies, Status, Step, StepAction, UpdatePolicy, owned_fields, status_of,
};

/// The state of a run.
pub(super) struct Pass<'a> {
    pub(super) engine: Engine<'a>,
    pub(super) run: Run<'a>,
    pub(super) ledger: Ledger<'a>,
    pub(super) live: Live,
    desired: BTreeMap<&'a ObjectKey, &'a Desired>,
    pub(super) kinds: Arc<Kinds>,
    /// Objects that are not ready, with their last status.
    pub(super) unready: BTreeMap<ObjectKey, Status>,
    /// True if the schedule is recorded.
    recorded: bool,
    /// The actions on objects that differ from the plan's view.
    pub(super) decided_again: BTreeMap<ObjectKey, StepAction>,
    /// Definitions written since the last discovery of kinds.
    pub(super) defined: Vec<ObjectKey>,
}

impl<'a> Pass<'a> {
    /// Prepares a run.
    pub(super) async fn prepare(
        engine: Engine<'a>,
        run: Run<'a>,
        ledger: Ledger<'a>,
        desired: &'a DesiredSet,
        live: Live,
    ) -> Result<Self, ApiError> {
        let kinds = engine.server.kinds().await?;
        let desired = desired.objects.iter().map(|object| (&object.key, object)).collect();
        let (unready, decided_again) = (BTreeMap::new(), BTreeMap::new());
        let (recorded, defined) = (false, Vec::new());
        Ok(Self { engine, run, ledger, live, desired, kinds, unready, recorded, decided_again, defined })
    }

    /// Ends a run, and records all completed actions even after an error.
    pub(super) async fn end(mut self, ended: Result<Outcome, EngineError>) -> Result<Outcome, EngineError> {
        let kept = self.ledger.keep().await;
        self.pass_kinds_on();
        // The first error matters most.
        let outcome = ended?;
        kept?;
        Ok(outcome)
    }

    /// Updates the kinds of the server, because later requests may concern new kinds.
    fn pass_kinds_on(&self) {
        let server = self.engine.server;
        if !self.defined.iter().all(ObjectKey::is_crd) {
            return server.forget_kinds();
        }
        if !self.defined.is_empty() {
            // Only established definitions are served.
            let established = self.defined.iter().filter(|key| !self.unready.contains_key(*key));
            let are_all = established.clone().count() == self.defined.len();
            server.learn_kinds(established.filter_map(|key| self.live.present(key)), are_all);
        }
    }

    pub(super) async fn carry_out(&mut self, plan: &Plan) -> Result<Outcome, EngineError> {
        let (writes, removals) =
            plan.steps.split_at(plan.steps.partition_point(|step| !step.action.is_removal()));
        if self.run.record_at == RecordAt::Start {
            self.note().await?;
        }
        let mut blockers = self.complete(writes).await?;
        let mut waves = writes.chunk_by(|a, b| a.wave == b.wave).peekable();
        while let Some(wave) = waves.next() {
            if !blockers.is_empty() {
                return Ok(Outcome::Waiting(blockers));
            }
            let prunes_when_ready = !removals.is_empty() && self.run.prune == Prune::WhenReady;
            let something_follows = waves.peek().is_some() || prunes_when_ready;
            blockers = self.wave(wave, writes, something_follows).await?;
        }
        if blockers.is_empty() {
            self.note().await?;
            blockers = self.remove(removals).await?;
        }
        if blockers.is_empty() && self.run.wait_for_last {
            blockers = self.wait_for(writes).await?;
        }
        Ok(if blockers.is_empty() { Outcome::Done } else { Outcome::Waiting(blockers) })
    }

    /// Writes a wave, and deletes completed objects at its end. Returns the objects that block the wave.
    async fn wave(
        &mut self,
        wave: &[Step],
        writes: &[Step],
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
            let mut blockers = self.write_part(part).await?;
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
    async fn note(&mut self) -> Result<(), ApiError> {
        if !self.recorded {
            self.ledger.keep().await?;
            self.recorded = true;
        }
        Ok(())
    }

    async fn write_part(&mut self, part: &[Step]) -> Result<Vec<Blocker>, EngineError> {
        let mut blockers = self.wait_until_served(part).await?;
        for batch in part.chunk_by(|a, b| a.priority == b.priority) {
            if !blockers.is_empty() {
                break;
            }
            if !batch.iter().all(|step| step.key.is_namespace()) {
                self.note().await?;
            }
            blockers = self.write_batch(batch).await?;
        }
        Ok(blockers)
    }

    /// Writes steps concurrently. If one write fails, the others complete, and the error includes all failed objects.
    async fn write_batch(&mut self, batch: &[Step]) -> Result<Vec<Blocker>, EngineError> {
        let written: Vec<&Step> = batch.iter().filter(|step| step.action.is_write()).collect();
        let effects = join_all(written.iter().map(|step| self.write(step))).await;
        let (mut blockers, mut failed) = (Vec::new(), Vec::new());
        for (step, effect) in written.into_iter().zip(effects) {
            match effect {
                Ok(Effect::Is(object, how, action)) => {
                    if action != step.action {
                        self.decided_again.insert(step.key.clone(), action);
                    }
                    let status = self.status(&step.key, &object);
                    let owned = owned_fields(&object, &self.engine.options.field_manager);
                    self.ledger.wrote(&step.key, how, owned, &status);
                    self.saw(&step.key, object, status);
                    if step.key.is_crd() || step.key.is_api_service() {
                        self.defined.push(step.key.clone());
                    }
                }
                Ok(Effect::Blocked(blocker)) => blockers.push(blocker),
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
                self.ledger.saw(&step.key, &status);
                self.saw(&step.key, object, status);
            }
        }
        if failed.is_empty() { Ok(blockers) } else { Err(EngineError::Writes { failed }) }
    }

    async fn write(&self, step: &Step) -> Result<Effect, WriteError> {
        let kind = self.kind(&step.key)?;
        let missing;
        let desired = if let Some(desired) = self.desired.get(&step.key) {
            *desired
        } else {
            missing = bare_namespace(&step.key);
            &missing
        };
        let Engine { server, marks, options } = self.engine;
        let writer = Writer { server, marks, options, until: self.run.until };
        let target = Target { kind, desired, item: self.ledger.set.item(&step.key), action: step.action };
        if step.unowned {
            writer.make_unowned(target, self.live.get(&step.key)).await
        } else {
            writer.write(target, self.live.get(&step.key)).await
        }
    }

    pub(super) fn kind(&self, key: &ObjectKey) -> Result<&ApiKind, ApiError> {
        let version = self.desired.get(key).map_or("v1", |desired| &desired.version);
        let kind = key.group_kind();
        self.kinds
            .version(&kind, version)
            .ok_or_else(|| ApiError::NoSuchKind { action: format!("write {key}"), kind: kind.to_string() })
    }

    pub(super) fn hints(&self, key: &ObjectKey) -> Hints {
        self.desired.get(key).map(|desired| desired.hints.clone()).unwrap_or_default()
    }

    fn status(&self, key: &ObjectKey, object: &Object) -> Status {
        status_of(object, &self.hints(key))
    }

    fn saw(&mut self, key: &ObjectKey, object: Object, status: Status) {
        if self.desired.contains_key(key) && !status.is_ready() {
            self.unready.insert(key.clone(), status);
        } else {
            self.unready.remove(key);
        }
        self.live.objects.insert(key.clone(), Observation::Present(object));
    }

    pub(super) fn remover(&mut self) -> Remover<'a, '_> {
        Remover { engine: self.engine, ledger: &mut self.ledger, live: &self.live, until: self.run.until }
    }

    fn is_completed(&self, key: &ObjectKey) -> bool {
        self.ledger.set.item(key).is_some_and(|item| item.phase == Phase::Completed)
    }
}

/// Returns a namespace that objects need and no set includes. It has no owner.
fn bare_namespace(key: &ObjectKey) -> Desired {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": key.name}});
    let policies = Policies { update: UpdatePolicy::SsaMerge, ..Policies::default() };
    Desired {
        key: key.clone(),
        version: "v1".to_owned(),
        object: Object::try_from(object).unwrap_or_default(),
        policies: ObjectPolicies { policies, ..ObjectPolicies::default() },
        hints: Hints::default(),
        digest: String::new(),
        defines: Vec::new(),
    }
}
