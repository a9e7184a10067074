//! Writes of one object, with all conflicts on the way.

use std::time::Instant;

use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;

use super::{
    WriteError,
    conversion::loses_webhook,
    error_reaction::{ErrorReaction, WriteOperation},
    termination::TerminatingObject,
};
use crate::{
    ApiError, ApiKind, ApplyOptions, ApplyPrecondition, ApplyRequest, ApplySet, ApplySetItem, Blocker,
    DesiredObject, DesiredSet, Event, LiveObjects, ObjectKey, ObjectRevision, Observation, OwnershipMarks,
    PatchTarget, PlanError, Server, StepAction, UpdatePolicy, WriteMode, Written, live::is_terminating, plan,
    take_over_fields,
};

/// The most tries to write an object that others change meanwhile.
const ATTEMPTS: usize = 6;

/// A writer of objects.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) server: &'a Server,
    pub(super) marks: &'a OwnershipMarks,
    pub(super) options: &'a ApplyOptions,
    pub(super) deadline: Option<Instant>,
}

/// The result of a write.
#[derive(Debug)]
pub(super) enum WriteOutcome {
    /// The object exists as a result of this action.
    Written(Object, Written, StepAction),
    /// The existing object must go first, and did not before the deadline.
    Blocked(Blocker),
}

/// One object, and the way to write the object.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) kind: &'a ApiKind,
    pub(super) desired: &'a DesiredObject,
    /// The item of the object in the set.
    pub(super) item: Option<&'a ApplySetItem>,
    pub(super) action: StepAction,
}

impl Writer<'_> {
    /// Writes an object onto its observed state. If the state has changed, the object is read again and a new action
    /// chosen.
    pub(super) async fn write(
        &self,
        target: Target<'_>,
        live: &Observation,
    ) -> Result<WriteOutcome, WriteError> {
        let key = &target.desired.key;
        let (mut live, mut action) = (live.clone(), target.action);
        let mut attempts = 0;
        loop {
            let (write, answer) = match &live {
                Observation::Absent | Observation::Unobserved => {
                    (WriteOperation::Create, self.create(target).await)
                }
                Observation::Present(object) if action == StepAction::Recreate => {
                    match self.delete_for_recreate(target, object).await {
                        Ok(None) => {
                            live = Observation::Absent;
                            continue;
                        }
                        Ok(Some(blocker)) => return Ok(WriteOutcome::Blocked(blocker)),
                        Err(WriteError::Api(error)) => (WriteOperation::Update, Err(error)),
                        Err(impossible) => return Err(impossible),
                    }
                }
                Observation::Present(object) if action.is_write() => {
                    (WriteOperation::Update, self.update(target, object).await)
                }
                Observation::Present(object) => {
                    return Ok(self.report_write(key, &live, object.clone(), action));
                }
            };
            let error = match answer {
                Ok(object) => return Ok(self.report_write(key, &live, object, action)),
                Err(error) => error,
            };
            attempts += 1;
            match ErrorReaction::after(&error, write, key) {
                _ if attempts == ATTEMPTS => return Err(error.into()),
                ErrorReaction::GiveUp => return Err(error.into()),
                ErrorReaction::Recreate => action = StepAction::Recreate,
                ErrorReaction::Reread => (live, action) = self.reread(target).await?,
            }
        }
    }

    /// Creates an object without an owner. An existing object is no error.
    pub(super) async fn create_unowned(
        &self,
        target: Target<'_>,
        live: &Observation,
    ) -> Result<WriteOutcome, WriteError> {
        if let Observation::Present(object) = live
            && let Some(blocker) = self.wait_until_gone(target, object).await?
        {
            return Ok(WriteOutcome::Blocked(blocker));
        }
        let manager = &self.options.field_manager;
        match self.server.create(target.kind, &target.desired.object, manager, WriteMode::Real).await {
            Err(error) if error.is_already_exists() => {
                Ok(WriteOutcome::Written(target.desired.object.clone(), Written::Unchanged, StepAction::Keep))
            }
            answer => {
                Ok(self.report_write(&target.desired.key, &Observation::Absent, answer?, target.action))
            }
        }
    }

    /// Reads an object that differs from the observed state, and decides by the rules of the plan.
    async fn reread(&self, target: Target<'_>) -> Result<(Observation, StepAction), WriteError> {
        let key = &target.desired.key;
        let Some(object) = self.server.get(target.kind, &key.namespace, &key.name).await? else {
            return Ok((Observation::Absent, StepAction::Create));
        };
        let action = self.replan(target, target.item, &object)?;
        Ok((Observation::Present(object), action))
    }

    /// Plans the action on one object.
    fn replan(
        &self,
        target: Target<'_>,
        item: Option<&ApplySetItem>,
        object: &Object,
    ) -> Result<StepAction, PlanError> {
        let set = ApplySet { items: item.cloned().into_iter().collect() };
        let desired = DesiredSet { objects: vec![target.desired.clone()] };
        let mut live = LiveObjects::default();
        live.objects.insert(target.desired.key.clone(), Observation::Present(object.clone()));
        let (steps, impossible) =
            match plan(&set, &desired, &live, self.marks, self.options, Timestamp::now()) {
                Ok(plan) => (plan.steps, Vec::new()),
                Err(impossible) => (Vec::new(), impossible),
            };
        let step = steps.into_iter().find(|step| step.key == target.desired.key);
        match impossible.into_iter().next() {
            Some(impossible) => Err(impossible),
            None => Ok(step.map_or(target.action, |step| step.action)),
        }
    }

    fn report_write(
        &self,
        key: &ObjectKey,
        before: &Observation,
        object: Object,
        action: StepAction,
    ) -> WriteOutcome {
        let how = match before {
            Observation::Present(before) if version(before) == version(&object) => Written::Unchanged,
            Observation::Present(_) => Written::Changed,
            Observation::Absent | Observation::Unobserved => Written::Created,
        };
        self.server.events().send(&Event::Wrote { object: key.clone(), how });
        WriteOutcome::Written(object, how, action)
    }

    async fn create(&self, target: Target<'_>) -> Result<Object, ApiError> {
        let Target { kind, desired, .. } = target;
        let manager = &self.marks.manager_of(&desired.object, &self.options.field_manager);
        match desired.policies.policies.update {
            UpdatePolicy::Replace | UpdatePolicy::Recreate => {
                self.server.create(kind, &desired.object, manager, WriteMode::Real).await
            }
            UpdatePolicy::SsaMerge | UpdatePolicy::SsaOverride => {
                let new = ApplyRequest { precondition: ApplyPrecondition::Absent, ..ApplyRequest::default() };
                self.server.apply(kind, &desired.object, manager, new).await
            }
        }
    }

    async fn update(&self, target: Target<'_>, live: &Object) -> Result<Object, ApiError> {
        let Target { kind, desired, .. } = target;
        let manager = &self.marks.manager_of(&desired.object, &self.options.field_manager);
        let former_tools = match desired.policies.policies.update {
            UpdatePolicy::Replace | UpdatePolicy::Recreate => {
                let replacement = replacement(&desired.object, live);
                return self.server.replace(kind, &replacement, manager, WriteMode::Real).await;
            }
            UpdatePolicy::SsaMerge => &[],
            UpdatePolicy::SsaOverride => &*self.options.take_over,
        };
        let split = self.marks.split_managers(live, &self.options.field_manager);
        let managed_fields = take_over_fields(split.as_ref().unwrap_or(live), manager, former_tools)
            .or_else(|| split?.get(&["metadata", "managedFields"]).cloned());
        let key = &desired.key;
        let mut onto = ObjectRevision::of(live);
        let replace = |path, value: &Value| json!({"op": "replace", "path": path, "value": value});
        let mut before: Vec<_> =
            managed_fields.iter().map(|fields| replace("/metadata/managedFields", fields)).collect();
        if loses_webhook(&desired.object, live) {
            // The patch replaces the whole `spec`, because versions and their conversion belong together.
            before.extend(desired.object.get(&["spec"]).map(|spec| replace("/spec", spec)));
        }
        if !before.is_empty() {
            before.push(replace("/metadata/resourceVersion", &json!(onto.resource_version)));
            let patch = Value::Array(before);
            let patched = self
                .server
                .patch(kind, &key.namespace, &key.name, &patch, manager, PatchTarget::Object)
                .await?;
            onto = ObjectRevision::of(&patched);
        }
        let how = ApplyRequest { precondition: ApplyPrecondition::Revision(onto), ..ApplyRequest::default() };
        self.server.apply(kind, &desired.object, manager, how).await
    }

    /// Deletes an object before its replacement, unless the object is already terminating, and waits until it is gone.
    /// Shape: the blocker, if the object exists at the deadline.
    async fn delete_for_recreate(
        &self,
        target: Target<'_>,
        live: &Object,
    ) -> Result<Option<Blocker>, WriteError> {
        let Target { kind, desired, .. } = target;
        let key = &desired.key;
        if !is_terminating(live) {
            // Another owner may have taken the object since it was observed. Then it is deleted only if the policies
            // allow taking it back.
            let Some(now) = self.server.get(kind, &key.namespace, &key.name).await? else { return Ok(None) };
            if !self.marks.owns_or_wrote(&now, target.item, &self.options.field_manager) {
                self.replan(target, None, &now)?;
            }
            self.server.delete(kind, &key.namespace, &key.name, Some(&ObjectRevision::of(live))).await?;
            self.server.events().send(&Event::Deleted { object: key.clone() });
        }
        Ok(self.wait_until_gone(target, live).await?)
    }

    async fn wait_until_gone(&self, target: Target<'_>, live: &Object) -> Result<Option<Blocker>, ApiError> {
        let leaving =
            TerminatingObject::new(target.desired.key.clone(), target.kind.clone(), live, self.marks);
        Ok(self.server.wait_until_gone(&[leaving], "", self.deadline).await?.into_iter().next())
    }
}

/// Returns an object that replaces another: in its version, and with the finalizers of other managers.
fn replacement(object: &Object, live: &Object) -> Object {
    let mut object = object.clone();
    let finalizers = |of: &Object| match of.get(&["metadata", "finalizers"]) {
        Some(Value::Array(finalizers)) => finalizers.clone(),
        _ => Vec::new(),
    };
    let mut all = finalizers(live);
    let ours = finalizers(&object).into_iter().filter(|ours| !all.contains(ours)).collect::<Vec<_>>();
    all.extend(ours);
    if let Some(Value::Object(metadata)) = object.as_map_mut().get_mut("metadata") {
        let ObjectRevision { uid, resource_version } = ObjectRevision::of(live);
        metadata.insert("uid".to_owned(), uid.into());
        metadata.insert("resourceVersion".to_owned(), resource_version.into());
        if !all.is_empty() {
            metadata.insert("finalizers".to_owned(), all.into());
        }
    }
    object
}

fn version(object: &Object) -> &str {
    object.get(&["metadata", "resourceVersion"]).and_then(Value::as_str).unwrap_or_default()
}
