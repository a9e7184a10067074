//! Conflicts between the objects of a set.

use std::collections::BTreeMap;

use super::{DesiredObject, InvalidObject};
use crate::ObjectKey;

/// Returns the conflicts between objects that are valid on their own.
pub(super) fn cross_check(objects: &[DesiredObject]) -> Vec<InvalidObject> {
    let mut bad = duplicates(objects);
    for needed in
        objects.iter().filter(|needed| !needed.managed_types.is_empty() || needed.key.is_namespace())
    {
        let users = objects.iter().filter(|user| needs(user, needed));
        bad.extend(users.flat_map(|user| order_problems(user, needed)));
    }
    bad
}

fn duplicates(objects: &[DesiredObject]) -> Vec<InvalidObject> {
    let mut times: BTreeMap<&ObjectKey, usize> = BTreeMap::new();
    for object in objects {
        *times.entry(&object.key).or_default() += 1;
    }
    let bad = |(key, times): (&ObjectKey, usize)| InvalidObject {
        object: key.clone(),
        problem: format!("occurs {times} times in the set"),
    };
    times.into_iter().filter(|(_, times)| *times > 1).map(bad).collect()
}

fn needs(user: &DesiredObject, needed: &DesiredObject) -> bool {
    let lives_in_it = needed.key.is_namespace() && user.key.namespace == needed.key.name;
    let is_instance = || {
        let kind = user.key.group_kind();
        needed.managed_types.iter().any(|managed| managed.covers(&kind, &user.version))
    };
    lives_in_it || is_instance()
}

fn order_problems(user: &DesiredObject, needed: &DesiredObject) -> Vec<InvalidObject> {
    let (before, after) = (&user.policies, &needed.policies);
    let applied_first = (before.apply_order < after.apply_order).then_some((
        "apply",
        before.apply_order,
        "below",
        after.apply_order,
    ));
    let deleted_last = (before.delete_order > after.delete_order).then_some((
        "delete",
        before.delete_order,
        "above",
        after.delete_order,
    ));
    let bad = |(which, own, relation, other)| InvalidObject {
        object: user.key.clone(),
        problem: format!(
            "has {which} order {own}, {relation} order {other} of {}, which it requires",
            needed.key
        ),
    };
    applied_first.into_iter().chain(deleted_last).map(bad).collect()
}
