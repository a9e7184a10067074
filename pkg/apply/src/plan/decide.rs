//! The action on one object.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use manifest::{Object, Value};

use super::{PlanError, immutable::cannot_be_changed};
use crate::{
    AdoptionPolicy, ApplyOptions, ApplySetItem, DesiredObject, ItemPhase, LiveObjects, ObjectKey,
    Observation, OwnershipMarks, StepAction, UpdatePolicy,
    desired::ONCE_DIGEST,
    field_ownership::{is_of_whole_object, managed_fields},
    live::is_terminating,
    take_over::loses_fields,
};

/// The action on an object, with a reason if it is not obvious.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) action: StepAction,
    pub(super) why: Option<String>,
}

/// The inputs of decisions.
pub(super) struct Decider<'a> {
    pub(super) items: &'a BTreeMap<&'a ObjectKey, &'a ApplySetItem>,
    pub(super) live: &'a LiveObjects,
    pub(super) marks: &'a OwnershipMarks,
    pub(super) options: &'a ApplyOptions,
    pub(super) now: Timestamp,
}

impl Decision {
    fn plain(action: StepAction) -> Self {
        Self { action, why: None }
    }

    fn because(action: StepAction, why: impl Into<String>) -> Self {
        Self { action, why: Some(why.into()) }
    }
}

impl Decider<'_> {
    /// Chooses the action on a desired object.
    pub(super) fn decide(&self, desired: &DesiredObject) -> Result<Decision, PlanError> {
        let item = self.items.get(&desired.key).copied();
        let same = item.filter(|item| item.digest == desired.digest);
        if same.is_some_and(|item| item.phase == ItemPhase::Completed) {
            return Ok(Decision::plain(StepAction::Completed));
        }
        let has_worked = same.is_some_and(|item| {
            matches!(item.phase, ItemPhase::ScheduledForCompletion | ItemPhase::Completing)
                && desired.policies.purge_order.is_some()
        });
        Ok(match (self.live.get(&desired.key), item.filter(|item| item.was_written())) {
            (Observation::Absent, _) if has_worked => Decision::plain(StepAction::Completed),
            (_, _) if has_worked => Decision::plain(StepAction::Purge),
            (Observation::Present(object), Some(item)) => self.decide_recorded(desired, item, object),
            (Observation::Present(object), None) => self.decide_unrecorded(desired, object)?,
            (Observation::Absent | Observation::Unobserved, _) => Decision::plain(StepAction::Create),
        })
    }

    /// Chooses the action on an object that was applied before.
    fn decide_recorded(&self, desired: &DesiredObject, item: &ApplySetItem, object: &Object) -> Decision {
        let kept = if desired.policies.purge_order.is_some() { StepAction::Purge } else { StepAction::Keep };
        let decision = match self.reason_to_write(desired, item, object) {
            None => Decision::plain(kept),
            Some(Reason::Manifest) => Decision::plain(StepAction::Update),
            Some(Reason::Other(why)) => Decision::because(StepAction::Update, why),
        };
        self.adjust(desired, object, decision)
    }

    /// Chooses the action on an existing object that was never applied.
    fn decide_unrecorded(&self, desired: &DesiredObject, object: &Object) -> Result<Decision, PlanError> {
        let adoption = desired.policies.policies.adoption;
        let former = self.former_manager(object);
        let taken = || former.map(|manager| format!("taken over from `{manager}`"));
        let decision = match self.marks.owner_of(object) {
            _ if self.marks.owns(object) => match taken() {
                _ if desired.digest == ONCE_DIGEST && self.marks.digest_of(object) == Some(ONCE_DIGEST) => {
                    Decision::plain(StepAction::Keep)
                }
                Some(why) => Decision::because(StepAction::Adopt, why),
                None => Decision::because(StepAction::Update, "exists but was not recorded"),
            },
            Some(theirs) if adoption == AdoptionPolicy::Always => {
                Decision::because(StepAction::Adopt, format!("taken over from owner `{theirs}`"))
            }
            Some(theirs) => {
                return Err(PlanError::OwnedByOther {
                    object: desired.key.clone(),
                    theirs: theirs.to_owned(),
                });
            }
            None if adoption == AdoptionPolicy::Never => {
                return Err(PlanError::Exists {
                    object: desired.key.clone(),
                    owner: self.marks.owner.clone(),
                });
            }
            None => {
                Decision::because(StepAction::Adopt, taken().unwrap_or_else(|| "already existed".to_owned()))
            }
        };
        Ok(self.adjust(desired, object, decision))
    }

    /// Replaces objects that cannot be updated.
    fn adjust(&self, desired: &DesiredObject, object: &Object, decision: Decision) -> Decision {
        if is_terminating(object) {
            return Decision::because(StepAction::Recreate, "is being deleted");
        }
        if self.live.is_terminating(&ObjectKey::of_namespace(&desired.key.namespace)) {
            return Decision::because(StepAction::Recreate, "its namespace is being deleted");
        }
        if !decision.action.is_write() {
            return decision;
        }
        if desired.policies.policies.update == UpdatePolicy::Recreate {
            return Decision { action: StepAction::Recreate, ..decision };
        }
        match cannot_be_changed(&desired.object, object) {
            Some(field) => Decision::because(StepAction::Recreate, format!("its {field} cannot be changed")),
            None => decision,
        }
    }

    fn reason_to_write(
        &self,
        desired: &DesiredObject,
        item: &ApplySetItem,
        object: &Object,
    ) -> Option<Reason> {
        if item.digest != desired.digest {
            return Some(Reason::Manifest);
        }
        if self.marks.digest_annotation.is_some() {
            // This includes objects that lost the annotation.
            if self.marks.digest_of(object) != Some(&desired.digest) {
                return Some(Reason::Other("differs from the last applied object".to_owned()));
            }
        } else if item.phase == ItemPhase::ScheduledForApplication {
            // The object does not show if an interrupted write arrived. In all later phases the write has arrived.
            return Some(Reason::Other("its last write may have failed".to_owned()));
        }
        if desired.digest == ONCE_DIGEST { None } else { self.reapply_reason(desired, item) }
    }

    /// Returns a reason if an unchanged object is due for another write.
    fn reapply_reason(&self, desired: &DesiredObject, item: &ApplySetItem) -> Option<Reason> {
        let interval = SignedDuration::try_from(desired.policies.reapply_after?).ok()?;
        let last: Option<Timestamp> = item.last_applied_at.as_deref().and_then(|at| at.parse().ok());
        match last {
            Some(last) if self.now.duration_since(last) < interval => None,
            Some(last) => Some(Reason::Other(format!("last written at {last}"))),
            None => Some(Reason::Other("the time of the last write is unknown".to_owned())),
        }
    }

    /// Returns the former manager of an object: a manager whose fields are taken over, or any manager if this engine
    /// never wrote the object.
    fn former_manager<'o>(&self, object: &'o Object) -> Option<&'o str> {
        let entries: Vec<&Value> = managed_fields(object).filter(|entry| is_of_whole_object(entry)).collect();
        let foreign = entries.iter().find(|entry| loses_fields(entry, &self.options.take_over));
        let wrote = self.marks.wrote(object, &self.options.field_manager);
        foreign.or_else(|| entries.first().filter(|_| !wrote))?["manager"].as_str()
    }
}

enum Reason {
    /// The manifest has changed.
    Manifest,
    Other(String),
}
