//! What is to be done, and in which order: decided from what is recorded, wanted and there. Pure.

mod checks;
mod decide;
mod immutable;
mod place;
mod removals;
mod schedule;

use std::{collections::BTreeSet, ops::Not};

use jiff::Timestamp;
use serde::Serialize;

use self::{
    checks::{missing_namespaces, needed_by_what_stays},
    decide::{Decider, Decision},
    place::Managed,
    removals::Removals,
};
use crate::{
    ApplySet, DeletePolicy, DesiredSet, Live, Marks, ObjectKey, ObjectPolicies, Options, StepAction,
    diff::is_same, order::apply_priority,
};

pub(crate) use immutable::may_be_recreated;

/// What is to be done, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// By wave, stage and priority; deletions last.
    pub steps: Vec<Step>,
}

/// A set of objects with its plan, and everything the plan was made from.
#[derive(Clone, Debug, Default)]
pub struct PlannedSet {
    /// The objects that were applied before.
    pub set: ApplySet,
    /// The objects that are to exist.
    pub desired: DesiredSet,
    /// The objects that exist.
    pub live: Live,
    /// The objects as the server says they would be, as far as it was asked.
    pub would_be: Live,
    /// The actions, object by object.
    pub plan: Plan,
}

/// What is to be done with one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Which object.
    pub key: ObjectKey,
    /// What with it.
    pub action: StepAction,
    /// Its wave: apply order of what is written, delete order of what is deleted.
    pub wave: i16,
    /// Which part of its wave.
    pub stage: Stage,
    /// The place inside its part of the wave; steps of one place may run side by side.
    pub priority: i8,
    /// The wave at whose end it is deleted again; none to stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge_wave: Option<i16>,
    /// Whether it belongs to nobody: a missing namespace. It is no object of the set, has no marks, and is never deleted.
    #[serde(skip_serializing_if = "Not::not")]
    pub unowned: bool,
    /// Why, where it is not plain: ``taken over from `kubectl` ``, `its selector cannot be changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The parts of a wave, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Most objects.
    #[default]
    Regular,
    /// APIServices, when all regular ones are ready.
    Late,
    /// Objects of kinds that the set itself defines, when those before are ready.
    Instances,
}

/// Why objects cannot be applied onto what is there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// It exists, nobody owns it, and the policy is to never adopt.
    #[error("{object} exists and was not applied by `{owner}`")]
    Exists {
        /// Which one.
        object: ObjectKey,
        /// Who wants to apply it.
        owner: String,
    },
    /// Somebody else owns it.
    #[error("{object} belongs to `{theirs}`")]
    Owned {
        /// Which one.
        object: ObjectKey,
        /// Its owner.
        theirs: String,
    },
    /// Its orders contradict those of what it needs, or what it needs is dropped while it stays.
    #[error("{object} {problem}")]
    Order {
        /// Which one.
        object: ObjectKey,
        /// What is wrong.
        problem: String,
    },
    /// The namespace is not there and may not be made.
    #[error("namespace `{namespace}` is not there")]
    NoNamespace {
        /// Its name.
        namespace: String,
    },
}

/// Decides what is to be done.
///
/// A write onto an object that was [`Unseen`](crate::Observation::Unseen) may find it there: then it is added to `live`
/// as it was found and the plan is made again; what was scheduled and never written is still judged by its adoption
/// policy.
/// Shape: every desired object and every item of the set gets one step, and every missing namespace one more; steps come
/// in the order of execution, those of one wave, stage and priority side by side. Pure: the same input gives the same
/// plan. `now` is what reapply intervals are measured against.
/// # Errors
/// Everything that stands in the way.
pub fn plan(
    set: &ApplySet,
    desired: &DesiredSet,
    live: &Live,
    marks: &Marks,
    options: &Options,
    now: Timestamp,
) -> Result<Plan, Vec<Impossible>> {
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
        Removals { live, marks, options, managed, orphans: DeletePolicy::orphans_redundant }.steps(redundant);
    impossible.extend(needed_by_what_stays(desired, &items, &removals));
    steps.extend(removals);
    if impossible.is_empty() { Ok(Plan::sorted(steps)) } else { Err(impossible) }
}

/// Decides what is to be done to delete a whole set. Items whose delete policy keeps them, and objects that are no
/// longer the owner's, stay, and with them the Namespaces and definitions of the set that they would go with.
/// Shape: every item gets one step, in the order of execution.
pub fn plan_delete(set: &ApplySet, live: &Live, marks: &Marks, options: &Options) -> Plan {
    let types = set.items.iter().flat_map(|item| &item.managed_types).collect();
    let managed = Managed { types, patterns: &options.additional_managed_types };
    let removals = Removals { live, marks, options, managed, orphans: DeletePolicy::orphans_all };
    Plan::sorted(removals.steps(set.items.iter()))
}

/// A step for every desired object, in their order.
fn writes(desired: &DesiredSet, decider: &Decider<'_>) -> (Vec<Step>, Vec<Impossible>) {
    let managed = managed_by(desired, decider.options);
    let waves: BTreeSet<i16> = desired.objects.iter().map(|object| object.policies.apply_order).collect();
    let (mut steps, mut impossible) = (Vec::new(), Vec::new());
    for object in &desired.objects {
        match decider.decide(object) {
            Ok(Decision { action, why }) => steps.push(Step {
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

/// The first wave, not before the object's own, that reaches its purge order; else the last one.
fn purge_wave(policies: &ObjectPolicies, waves: &BTreeSet<i16>) -> Option<i16> {
    let order = policies.purge_order?.max(policies.apply_order);
    waves.range(order..).next().or_else(|| waves.last()).copied()
}

fn managed_by<'a>(desired: &'a DesiredSet, options: &'a Options) -> Managed<'a> {
    let types = desired.objects.iter().flat_map(|object| &object.defines).collect();
    Managed { types, patterns: &options.additional_managed_types }
}

impl PlannedSet {
    /// Keeps objects whose update would change nothing, as the server has said. Their last write may not have been seen to
    /// arrive.
    pub fn keep_unchanged(&mut self) {
        for step in self.plan.steps.iter_mut().filter(|step| step.action == StepAction::Update) {
            let sides = (self.live.present(&step.key), self.would_be.present(&step.key));
            if let (Some(live), Some(would_be)) = sides
                && is_same(live, would_be)
            {
                step.action = StepAction::Keep;
            }
        }
    }
}

impl Plan {
    fn sorted(mut steps: Vec<Step>) -> Self {
        steps.sort_by_key(Step::place);
        Self { steps }
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| matches!(step.action, StepAction::Keep | StepAction::Completed))
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
