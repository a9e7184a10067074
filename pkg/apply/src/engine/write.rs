//! Writes of one object, with all conflicts on the way.

use std::time::Instant;

use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;

use super::{
    WriteError,
    answer::{Next, Write},
    conversion::loses_webhook,
    gone::Leaving,
};
use crate::{
    ApiError, ApiKind, Apply, ApplySet, Blocker, Desired, DesiredSet, Event, Impossible, Item, Live, Marks,
    ObjectKey, Observation, Onto, Options, PatchOf, Revision, Server, StepAction, UpdatePolicy, WriteMode,
    Written, live::is_going, plan, take_over,
};

/// The most tries to write an object that others change meanwhile.
const ATTEMPTS: usize = 6;

/// A writer of objects.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) server: &'a Server,
    pub(super) marks: &'a Marks,
    pub(super) options: &'a Options,
    pub(super) until: Option<Instant>,
}

/// The result of a write.
#[derive(Debug)]
pub(super) enum Effect {
    /// The object exists as a result of this action.
    Is(Object, Written, StepAction),
    /// The existing object must go first, and did not before the deadline.
    Blocked(Blocker),
}

/// One object, and the way to write the object.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) kind: &'a ApiKind,
    pub(super) desired: &'a Desired,
    /// The item of the object in the set.
    pub(super) item: Option<&'a Item>,
    pub(super) action: StepAction,
}

impl Writer<'_> {
    /// Writes an object onto its observed state. If the state has changed, the object is read again and a new action
    /// chosen.
    pub(super) async fn write(&self, target: Target<'_>, live: &Observation) -> Result<Effect, WriteError> {
        let key = &target.desired.key;
        let (mut live, mut action) = (live.clone(), target.action);
        let mut attempts = 0;
        loop {
            let (write, answer) = match &live {
                Observation::Absent | Observation::Unseen => (Write::Making, self.make(target).await),
                Observation::Present(object) if action == StepAction::Recreate => {
                    match self.clear_away(target, object).await {
                        Ok(None) => {
                            live = Observation::Absent;
                            continue;
                        }
                        Ok(Some(blocker)) => return Ok(Effect::Blocked(blocker)),
                        Err(WriteError::Api(error)) => (Write::Changing, Err(error)),
                        Err(impossible) => return Err(impossible),
                    }
                }
                Observation::Present(object) if action.is_write() => {
                    (Write::Changing, self.change(target, object).await)
                }
                Observation::Present(object) => return Ok(self.wrote(key, &live, object.clone(), action)),
            };
            let error = match answer {
                Ok(object) => return Ok(self.wrote(key, &live, object, action)),
                Err(error) => error,
            };
            attempts += 1;
            match Next::after(&error, write, key) {
                _ if attempts == ATTEMPTS => return Err(error.into()),
                Next::GiveUp => return Err(error.into()),
                Next::Recreate => action = StepAction::Recreate,
                Next::LookAgain => (live, action) = self.look(target).await?,
            }
        }
    }

    /// Creates an object without an owner. An existing object is no error.
    pub(super) async fn make_unowned(
        &self,
        target: Target<'_>,
        live: &Observation,
    ) -> Result<Effect, WriteError> {
        if let Observation::Present(object) = live
            && let Some(blocker) = self.wait_for_its_end(target, object).await?
        {
            return Ok(Effect::Blocked(blocker));
        }
        let manager = &self.options.field_manager;
        match self.server.create(target.kind, &target.desired.object, manager, WriteMode::Real).await {
            Err(error) if error.is_already_there() => {
                Ok(Effect::Is(target.desired.object.clone(), Written::Unchanged, StepAction::Keep))
            }
            answer => Ok(self.wrote(&target.desired.key, &Observation::Absent, answer?, target.action)),
        }
    }

    /// Reads an object that differs from the observed state, and decides by the rules of the plan.
    async fn look(&self, target: Target<'_>) -> Result<(Observation, StepAction), WriteError> {
        let key = &target.desired.key;
        let Some(object) = self.server.get(target.kind, &key.namespace, &key.name).await? else {
            return Ok((Observation::Absent, StepAction::Create));
        };
        let action = self.judge(target, target.item, &object)?;
        Ok((Observation::Present(object), action))
    }

    /// Plans the action on one object.
    fn judge(
        &self,
        target: Target<'_>,
        item: Option<&Item>,
        object: &Object,
    ) -> Result<StepAction, Impossible> {
        let set = ApplySet { items: item.cloned().into_iter().collect() };
        let desired = DesiredSet { objects: vec![target.desired.clone()] };
        let mut live = Live::default();
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

    fn wrote(&self, key: &ObjectKey, before: &Observation, object: Object, action: StepAction) -> Effect {
        let how = match before {
            Observation::Present(before) if version(before) == version(&object) => Written::Unchanged,
            Observation::Present(_) => Written::Changed,
            Observation::Absent | Observation::Unseen => Written::Created,
        };
        self.server.events().send(&Event::Wrote { object: key.clone(), how });
        Effect::Is(object, how, action)
    }

    async fn make(&self, target: Target<'_>) -> Result<Object, ApiError> {
        let Target { kind, desired, .. } = target;
        let manager = &self.options.field_manager;
        match desired.policies.policies.update {
            UpdatePolicy::Replace | UpdatePolicy::Recreate => {
                self.server.create(kind, &desired.object, manager, WriteMode::Real).await
            }
            UpdatePolicy::SsaMerge | UpdatePolicy::SsaOverride => {
                let new = Apply { onto: Onto::Absent, ..Apply::default() };
                self.server.apply(kind, &desired.object, manager, new).await
            }
        }
    }

    async fn change(&self, target: Target<'_>, live: &Object) -> Result<Object, ApiError> {
        let Target { kind, desired, .. } = target;
        let manager = &self.options.field_manager;
        let taken = match desired.policies.policies.update {
            UpdatePolicy::Replace | UpdatePolicy::Recreate => {
                let replacement = replacement(&desired.object, live);
                return self.server.replace(kind, &replacement, manager, WriteMode::Real).await;
            }
            UpdatePolicy::SsaMerge => take_over(live, manager, &[]),
            UpdatePolicy::SsaOverride => take_over(live, manager, &self.options.take_over),
        };
        let key = &desired.key;
        let mut onto = Revision::of(live);
        let replace = |path, value: &Value| json!({"op": "replace", "path": path, "value": value});
        let mut before: Vec<_> =
            taken.iter().map(|fields| replace("/metadata/managedFields", fields)).collect();
        if loses_webhook(&desired.object, live) {
            // The patch replaces the whole `spec`, because versions and their conversion belong together.
            before.extend(desired.object.get(&["spec"]).map(|spec| replace("/spec", spec)));
        }
        if !before.is_empty() {
            before.push(replace("/metadata/resourceVersion", &json!(onto.resource_version)));
            let patch = Value::Array(before);
            let patched =
                self.server.patch(kind, &key.namespace, &key.name, &patch, manager, PatchOf::Object).await?;
            onto = Revision::of(&patched);
        }
        let how = Apply { onto: Onto::Revision(onto), ..Apply::default() };
        self.server.apply(kind, &desired.object, manager, how).await
    }

    /// Deletes an object before its replacement, unless the object is already terminating, and waits until it is gone.
    /// Shape: the blocker, if the object exists at the deadline.
    async fn clear_away(&self, target: Target<'_>, live: &Object) -> Result<Option<Blocker>, WriteError> {
        let Target { kind, desired, .. } = target;
        let key = &desired.key;
        if !is_going(live) {
            // Another owner may have taken the object since it was observed. Then it is deleted only if the policies
            // allow taking it back.
            let Some(now) = self.server.get(kind, &key.namespace, &key.name).await? else { return Ok(None) };
            if !self.marks.recognise(&now, target.item, &self.options.field_manager) {
                self.judge(target, None, &now)?;
            }
            self.server.delete(kind, &key.namespace, &key.name, Some(&Revision::of(live))).await?;
            self.server.events().send(&Event::Deleted { object: key.clone() });
        }
        Ok(self.wait_for_its_end(target, live).await?)
    }

    async fn wait_for_its_end(&self, target: Target<'_>, live: &Object) -> Result<Option<Blocker>, ApiError> {
        let leaving = Leaving::new(target.desired.key.clone(), target.kind.clone(), live, self.marks);
        Ok(self.server.wait_until_gone(&[leaving], "", self.until).await?.into_iter().next())
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
        let Revision { uid, resource_version } = Revision::of(live);
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
