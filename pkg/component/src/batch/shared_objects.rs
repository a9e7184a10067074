//! Objects that several Components of a batch have.

use std::collections::{BTreeMap, btree_map::Entry};

use apply::{AdoptionPolicy, DesiredObject, ObjectKey};

use super::ComponentProblem;
use crate::{ComponentKey, run::PlanDraft};

/// Returns a problem for each two Components of a cluster that have the same objects, unless both take over objects of other
/// owners. Only one Component can own an object.
pub(super) fn shared_objects<'d>(drafts: impl Iterator<Item = &'d PlanDraft>) -> Vec<ComponentProblem> {
    let mut owners: BTreeMap<&ObjectKey, (&PlanDraft, &DesiredObject)> = BTreeMap::new();
    let mut shared: BTreeMap<_, Vec<ObjectKey>> = BTreeMap::new();
    for draft in drafts {
        for object in &draft.desired.objects {
            match owners.entry(&object.key) {
                Entry::Vacant(free) => drop(free.insert((draft, object))),
                Entry::Occupied(taken) => {
                    let (owner, other) = *taken.get();
                    if !(takes_over(object) && takes_over(other)) {
                        shared.entry((&draft.key, &owner.key)).or_default().push(object.key.clone());
                    }
                }
            }
        }
    }
    let problem = |((component, owner), objects): ((&ComponentKey, &ComponentKey), _)| {
        ComponentProblem::SharedObjects { component: component.clone(), owner: owner.clone(), objects }
    };
    shared.into_iter().map(problem).collect()
}

fn takes_over(object: &DesiredObject) -> bool {
    object.policies.policies.adoption == AdoptionPolicy::Always
}
