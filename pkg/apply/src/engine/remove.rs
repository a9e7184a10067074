//! Removes objects: completed objects, redundant objects, and whole sets.

use std::time::Instant;

use futures::future::{join_all, try_join_all};
use manifest::{Object, Value};
use serde_json::json;
use tokio::time::sleep;

use super::{
    Engine, EngineError, WriteError, observe::served_kind, recorder::Recorder, termination::TerminatingObject,
};
use crate::{
    ApiError, ApiKind, Blocker, DeletionOutcome, Event, Health, ListQuery, LiveObjects, ManagedType,
    ObjectKey, ObjectRevision, Observation, PatchTarget, PlanStep, Status, StepAction, live::is_terminating,
    retry::Backoff,
};

/// The most tries to delete an object that others change meanwhile.
const ATTEMPTS: usize = 4;

/// The result of the deletion of an object.
#[derive(Debug)]
enum RemovalOutcome {
    /// The object no longer exists.
    Gone,
    /// The deletion was requested, and finalizers or dependents delay it.
    Terminating(Box<TerminatingObject>),
    /// The object stays, and leaves the set.
    NotOwned,
}

/// Removes steps of a plan from a server and from a set.
pub(super) struct Remover<'a, 's> {
    pub(super) engine: Engine<'a>,
    pub(super) recorder: &'s mut Recorder<'a>,
    pub(super) live: &'s LiveObjects,
    pub(super) deadline: Option<Instant>,
}

impl Remover<'_, '_> {
    /// Removes objects wave by wave. Instances of managed types go first, Namespaces go after their contents. Each
    /// group waits for the groups before, and the set is recorded after each.
    /// Shape: steps in the plan's order; returns the objects that exist at the deadline.
    pub(super) async fn remove(&mut self, steps: &[PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        let removed = self.remove_sections(steps).await;
        if steps.iter().any(|step| step.key.is_crd() || step.key.is_api_service()) {
            // This comes last, because the removed objects are of known kinds.
            self.engine.server.forget_kinds();
        }
        removed
    }

    async fn remove_sections(&mut self, steps: &[PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        let place = |step: &PlanStep| {
            let is_instance = step.stage == crate::PlanStage::Instances;
            (step.wave, is_instance, step.key.is_namespace())
        };
        for section in steps.chunk_by(|a, b| place(a) == place(b)) {
            let (orphans, deletions): (Vec<_>, Vec<_>) =
                section.iter().partition(|step| step.action == StepAction::Orphan);
            let blockers = self.delete_all(&deletions, &orphans).await?;
            // The record may live in one of the Namespaces.
            if section.iter().any(|step| step.key.is_namespace()) {
                self.recorder.save_if_possible().await?;
            } else {
                self.recorder.save().await?;
            }
            if !blockers.is_empty() {
                return Ok(blockers);
            }
        }
        Ok(Vec::new())
    }

    async fn delete_all(
        &mut self,
        deletions: &[&PlanStep],
        orphans: &[&PlanStep],
    ) -> Result<Vec<Blocker>, EngineError> {
        self.orphan(orphans).await?;
        let mut leaving = Vec::new();
        for batch in deletions.chunk_by(|a, b| a.priority == b.priority) {
            let keys: Vec<_> = batch.iter().map(|step| step.key.clone()).collect();
            leaving.extend(self.delete_batch(&keys).await?);
        }
        self.wait_until_gone(leaving).await
    }

    /// Deletes objects concurrently. Returns the objects that are not gone yet.
    pub(super) async fn delete_batch(
        &mut self,
        keys: &[ObjectKey],
    ) -> Result<Vec<TerminatingObject>, EngineError> {
        let dismissed = join_all(keys.iter().map(|key| self.delete_one(key))).await;
        let (mut leaving, mut failed) = (Vec::new(), Vec::new());
        for (key, dismissed) in keys.iter().zip(dismissed) {
            match dismissed {
                Ok(RemovalOutcome::Gone | RemovalOutcome::NotOwned) => self.recorder.record_deletion(key),
                Ok(RemovalOutcome::Terminating(one)) => {
                    self.recorder.record_termination(key);
                    leaving.push(*one);
                }
                Err(error) => failed.push((key.clone(), WriteError::Api(error))),
            }
        }
        if failed.is_empty() { Ok(leaving) } else { Err(EngineError::Writes { failed }) }
    }

    /// Waits until objects are gone. Returns the objects that are not.
    pub(super) async fn wait_until_gone(
        &mut self,
        leaving: Vec<TerminatingObject>,
    ) -> Result<Vec<Blocker>, EngineError> {
        let held = try_join_all(leaving.iter().map(|one| self.release_finalizer(one))).await?;
        let (mut blockers, mut waited) = (Vec::new(), Vec::new());
        for (one, held) in leaving.into_iter().zip(held) {
            match held {
                Some(blocker) => blockers.push(blocker),
                None => waited.push(one),
            }
        }
        let selector = self.engine.owner_selector();
        let left = self.engine.server.wait_until_gone(&waited, &selector, self.deadline).await?;
        for one in waited.iter().filter(|one| !left.iter().any(|blocker| blocker.object == one.key)) {
            self.recorder.record_deletion(&one.key);
        }
        blockers.extend(left);
        Ok(blockers)
    }

    /// Removes objects that stay from the set, and the finalizers and marks from these objects.
    async fn orphan(&mut self, orphans: &[&PlanStep]) -> Result<(), EngineError> {
        let Engine { marks, options, .. } = self.engine;
        for PlanStep { key, .. } in orphans {
            let may_have_marks = match self.live.get(key) {
                Observation::Present(object) => self.is_owned(key, object),
                Observation::Unobserved => options.release_orphans,
                Observation::Absent => false,
            };
            if may_have_marks && let Some(kind) = self.kind(key).await? {
                self.remove_finalizer(key, &kind).await?;
                if options.release_orphans {
                    self.patch_metadata(key, &kind, |object| marks.removal(object)).await?;
                }
            }
            self.recorder.set.remove(key);
        }
        Ok(())
    }

    fn is_owned(&self, key: &ObjectKey, object: &Object) -> bool {
        let Engine { marks, options, .. } = self.engine;
        marks.owns_or_wrote(object, self.recorder.set.item(key), &options.field_manager)
    }

    async fn delete_one(&self, key: &ObjectKey) -> Result<RemovalOutcome, ApiError> {
        let Some(kind) = self.kind(key).await? else { return Ok(RemovalOutcome::Gone) };
        let server = self.engine.server;
        let mut seen = self.live.get(key).clone();
        for attempt in 1.. {
            let object = match seen {
                Observation::Absent => return Ok(RemovalOutcome::Gone),
                Observation::Present(object) => object,
                Observation::Unobserved => match server.get(&kind, &key.namespace, &key.name).await? {
                    Some(object) => object,
                    None => return Ok(RemovalOutcome::Gone),
                },
            };
            if !self.is_owned(key, &object) {
                return Ok(RemovalOutcome::NotOwned);
            }
            let leaving = TerminatingObject::new(key.clone(), kind.clone(), &object, self.engine.marks);
            if is_terminating(&object) {
                return Ok(RemovalOutcome::Terminating(Box::new(leaving)));
            }
            match server.delete(&kind, &key.namespace, &key.name, Some(&ObjectRevision::of(&object))).await {
                Ok(deletion) => {
                    server.events().send(&Event::Deleted { object: key.clone() });
                    return Ok(match deletion {
                        DeletionOutcome::Gone => RemovalOutcome::Gone,
                        DeletionOutcome::Terminating => RemovalOutcome::Terminating(Box::new(leaving)),
                    });
                }
                Err(error) if error.is_conflict() && attempt < ATTEMPTS => seen = Observation::Unobserved,
                Err(error) => return Err(error),
            }
        }
        Ok(RemovalOutcome::Gone)
    }

    /// Removes the finalizer of these marks from a definition without instances. Returns a blocker if instances exist
    /// at the deadline.
    async fn release_finalizer(&self, leaving: &TerminatingObject) -> Result<Option<Blocker>, ApiError> {
        if self.engine.marks.finalizer_for(&leaving.key).is_none() {
            return Ok(None);
        }
        let item = self.recorder.set.item(&leaving.key);
        let types = item.map(|item| item.managed_types.clone()).unwrap_or_default();
        let since = Instant::now();
        for tries in 1.. {
            if !self.has_instances(&types).await? {
                break;
            }
            if self.deadline.is_none_or(|until| Instant::now() >= until) {
                let status = Status::of(Health::Terminating, "instances still exist");
                let blocker = Blocker::new(leaving.key.clone(), status);
                return Ok(Some(Blocker { since: since.elapsed(), ..blocker }));
            }
            sleep(Backoff::default().pause(tries, None)).await;
        }
        self.remove_finalizer(&leaving.key, &leaving.kind).await?;
        Ok(None)
    }

    async fn has_instances(&self, types: &[ManagedType]) -> Result<bool, ApiError> {
        let server = self.engine.server;
        let kinds = server.kinds().await?;
        let one = ListQuery { metadata_only: true, limit: Some(1), ..ListQuery::default() };
        for kind in types.iter().flat_map(|managed| managed.served_kinds(&kinds)) {
            match server.list(kind, &one).await {
                Ok(found) if found.is_empty() => {}
                Ok(_) => return Ok(true),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    async fn remove_finalizer(&self, key: &ObjectKey, kind: &ApiKind) -> Result<(), ApiError> {
        let Some(ours) = self.engine.marks.finalizer_for(key) else { return Ok(()) };
        let without_ours = |object: &Object| {
            let finalizers = object.get(&["metadata", "finalizers"])?.as_array()?;
            let others: Vec<_> = finalizers.iter().filter(|finalizer| *finalizer != ours).collect();
            (others.len() < finalizers.len()).then(|| json!({"finalizers": others}))
        };
        self.patch_metadata(key, kind, without_ours).await
    }

    /// Patches the metadata of an object in its current version, unless the object is gone or there is no patch.
    async fn patch_metadata(
        &self,
        key: &ObjectKey,
        kind: &ApiKind,
        patch: impl Fn(&Object) -> Option<Value>,
    ) -> Result<(), ApiError> {
        let Engine { server, options, .. } = self.engine;
        let manager = &options.field_manager;
        for attempt in 1.. {
            let Some(object) = server.get(kind, &key.namespace, &key.name).await? else { break };
            let Some(mut metadata) = patch(&object) else { break };
            metadata["resourceVersion"] = json!(object.get(&["metadata", "resourceVersion"]));
            let patch = json!({"metadata": metadata});
            match server.patch(kind, &key.namespace, &key.name, &patch, manager, PatchTarget::Object).await {
                Ok(_) => break,
                Err(error) if error.is_not_found() => break,
                Err(error) if error.is_conflict() && attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn kind(&self, key: &ObjectKey) -> Result<Option<ApiKind>, ApiError> {
        let server = self.engine.server;
        let kinds = server.kinds().await?;
        let version = self.recorder.set.item(key).map_or("", |item| item.version.as_str());
        if let Some(kind) = served_kind(&kinds, &key.group_kind(), version) {
            return Ok(Some(kind.clone()));
        }
        match server.kind(&key.group_kind()).await {
            Err(error) if error.is_not_found() => Ok(None),
            kind => kind.map(Some),
        }
    }
}
