//! The actions for a set and their order, from recorded, desired and live objects. Pure.

mod checks;
mod decide;
mod immutable;
mod removals;
mod schedule;
mod step_order;

use std::{collections::BTreeSet, ops::Not};

use jiff::Timestamp;
use serde::Serialize;

use self::{
    checks::{missing_namespaces, removal_conflicts},
    decide::{Decider, Decision},
    removals::Removals,
    step_order::ManagedKinds,
};
use crate::{
    ApplyOptions, ApplySet, DeletePolicy, DesiredSet, LiveObjects, ObjectKey, ObjectPolicies, OwnershipMarks,
    StepAction, diff::is_same, order::apply_priority,
};

pub(crate) use immutable::may_be_recreated;

/// Planned steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ApplyPlan {
    /// The steps by wave, stage and priority; deletions last.
    pub steps: Vec<PlanStep>,
}

/// A set of objects with its plan, and all inputs of the plan.
#[derive(Clone, Debug, Default)]
pub struct PlannedSet {
    /// The objects that were applied before.
    pub set: ApplySet,
    /// The desired objects.
    pub desired: DesiredSet,
    /// The objects that exist.
    pub live: LiveObjects,
    /// The objects as the server would store them, as far as dry runs were made.
    pub dry_run: LiveObjects,
    /// The actions, object by object.
    pub plan: ApplyPlan,
}

/// The action on one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    /// The key of the object.
    pub key: ObjectKey,
    /// The action on the object.
    pub action: StepAction,
    /// The wave: the apply order of a write, or the delete order of a deletion.
    pub wave: i16,
    /// The part of the wave.
    pub stage: PlanStage,
    /// The rank inside the part of the wave. Steps of one rank may run concurrently.
    pub priority: i8,
    /// The wave at whose end the object is deleted. None to keep the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge_wave: Option<i16>,
    /// True for a missing namespace, which has no owner. It does not belong to the set, has no marks, and is never
    /// deleted.
    #[serde(skip_serializing_if = "Not::not")]
    pub unowned: bool,
    /// The reason if it is not obvious: ``taken over from `kubectl` ``, `its selector cannot be changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The parts of a wave, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanStage {
    /// Most objects.
    #[default]
    Regular,
    /// APIServices, after all regular objects are ready.
    Late,
    /// Objects of kinds that the set itself defines, after all other objects are ready.
    Instances,
}

/// The reason why objects cannot be applied onto existing objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum PlanError {
    /// The object exists without an owner, and the policy is to never adopt.
    #[error("{object} exists and was not applied by `{owner}`")]
    Exists {
        object: ObjectKey,
        /// The name of the owner that applies the object.
        owner: String,
    },
    /// Another owner owns the object.
    #[error("{object} belongs to `{theirs}`")]
    OwnedByOther {
        object: ObjectKey,
        /// The name of the other owner.
        theirs: String,
    },
    /// The orders of the object contradict the orders of an object it needs, or a needed object is dropped.
    #[error("{object} {problem}")]
    Order { object: ObjectKey, problem: String },
    /// The namespace does not exist and must not be created.
    #[error("namespace `{namespace}` does not exist")]
    MissingNamespace { namespace: String },
}

/// Plans the application of a set.
///
/// A write onto an [`Unobserved`](crate::Observation::Unobserved) object may detect the object. Then the caller adds the object
/// to `live` and plans again. An object that was scheduled and never written is still subject to its adoption policy.
/// Shape: every desired object and every item of the set gets one step, and every missing namespace one more. Steps are
/// in the order of execution; steps of one wave, stage and priority run concurrently. The same input gives the same
/// plan. Reapply intervals are measured against `now`.
/// # Errors
/// All obstacles to the plan.
pub fn plan(
    set: &ApplySet,
    desired: &DesiredSet,
    live: &LiveObjects,
    marks: &OwnershipMarks,
    options: &ApplyOptions,
    now: Timestamp,
) -> Result<ApplyPlan, Vec<PlanError>> {
    let items = set.items.iter().map(|item| (&item.key, item)).collect();
    let decider = Decider { items: &items, live, marks, options, now };
    let (mut steps, mut impossible) = writes(desired, &decider);
    match missing_namespaces(desired, &steps, live, options.missing_namespaces) {
        Ok(namespaces) => steps.extend(namespaces),
        Err(problems) => impossible.extend(problems),
    }
    let wanted: BTreeSet<_> = desired.objects.iter().map(|object| &object.key).collect();
    let redundant = set.items.iter().filter(|item| !wanted.contains(&item.key));
    let mut managed = managed_by(desired, options);
    managed.types.extend(set.items.iter().flat_map(|item| &item.managed_types));
    let removals =
        Removals { live, marks, options, managed, orphans: DeletePolicy::orphans_on_apply }.steps(redundant);
    impossible.extend(removal_conflicts(desired, &items, &removals));
    steps.extend(removals);
    if impossible.is_empty() { Ok(ApplyPlan::sorted(steps)) } else { Err(impossible) }
}

/// Plans the deletion of a whole set. Items that their delete policy keeps, and objects with another owner, stay.
/// Namespaces and definitions that these objects need stay as well.
/// Shape: every item gets one step, in the order of execution.
pub fn plan_delete(
    set: &ApplySet,
    live: &LiveObjects,
    marks: &OwnershipMarks,
    options: &ApplyOptions,
) -> ApplyPlan {
    let types = set.items.iter().flat_map(|item| &item.managed_types).collect();
    let managed = ManagedKinds { types, patterns: &options.additional_managed_types };
    let removals = Removals { live, marks, options, managed, orphans: DeletePolicy::orphans_on_delete };
    ApplyPlan::sorted(removals.steps(set.items.iter()))
}

/// Returns a step for every desired object, in their order.
fn writes(desired: &DesiredSet, decider: &Decider<'_>) -> (Vec<PlanStep>, Vec<PlanError>) {
    let managed = managed_by(desired, decider.options);
    let waves: BTreeSet<i16> = desired.objects.iter().map(|object| object.policies.apply_order).collect();
    let (mut steps, mut impossible) = (Vec::new(), Vec::new());
    for object in &desired.objects {
        match decider.decide(object) {
            Ok(Decision { action, why }) => steps.push(PlanStep {
                key: object.key.clone(),
                action,
                wave: object.policies.apply_order,
                stage: managed.stage(&object.key.group_kind(), &object.version),
                priority: apply_priority(&object.key),
                purge_wave: purge_wave(&object.policies, &waves),
                unowned: false,
                why,
            }),
            Err(problem) => impossible.push(problem),
        }
    }
    (steps, impossible)
}

/// Returns the first wave, not before the object's own wave, that reaches its purge order; or else the last wave.
fn purge_wave(policies: &ObjectPolicies, waves: &BTreeSet<i16>) -> Option<i16> {
    let order = policies.purge_order?.max(policies.apply_order);
    waves.range(order..).next().or_else(|| waves.last()).copied()
}

fn managed_by<'a>(desired: &'a DesiredSet, options: &'a ApplyOptions) -> ManagedKinds<'a> {
    let types = desired.objects.iter().flat_map(|object| &object.managed_types).collect();
    ManagedKinds { types, patterns: &options.additional_managed_types }
}

impl PlannedSet {
    /// Keeps objects whose update changes nothing according to the dry run. The result of their last write may be
    /// unknown.
    pub fn keep_unchanged(&mut self) {
        for step in self.plan.steps.iter_mut().filter(|step| step.action == StepAction::Update) {
            let objects = (self.live.present(&step.key), self.dry_run.present(&step.key));
            if let (Some(live), Some(would_be)) = objects
                && is_same(live, would_be)
            {
                step.action = StepAction::Keep;
            }
        }
    }
}

impl ApplyPlan {
    fn sorted(mut steps: Vec<PlanStep>) -> Self {
        steps.sort_by_key(PlanStep::order);
        Self { steps }
    }

    /// True if the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step.action, StepAction::Keep | StepAction::Completed))
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
