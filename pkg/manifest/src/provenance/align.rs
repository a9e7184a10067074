//! Matches the items of a changed list with its former items.

use crate::Value;

/// Limit for the product of the lengths of the changed parts; longer lists are compared by position.
const MAX_COMPARISONS: usize = 1 << 20;

/// Returns the former index of each item; `None` for a new item.
///
/// Items match if they are equal, else by `name`. If the number of changed items is the same, unnamed items match by
/// position.
pub(super) fn former_indices(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    let same_first = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (old, new) = (&before[same_first..], &after[same_first..]);
    let same_last = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - same_last], &new[..new.len() - same_last]);

    let mut places: Vec<Option<usize>> = (0..same_first).map(Some).collect();
    places.extend(changed_indices(old, new).into_iter().map(|place| place.map(|place| place + same_first)));
    places.extend((before.len() - same_last..before.len()).map(Some));
    places
}

fn changed_indices(old: &[Value], new: &[Value]) -> Vec<Option<usize>> {
    let mut places = vec![None; new.len()];
    let mut is_free = vec![true; old.len()];
    if old.len().saturating_mul(new.len()) <= MAX_COMPARISONS {
        for is_it in [|old: &Value, new: &Value| old == new, have_same_name] {
            for (item, place) in new.iter().zip(&mut places).filter(|(_, place)| place.is_none()) {
                *place = (0..old.len()).find(|at| is_free[*at] && is_it(&old[*at], item));
                if let Some(at) = *place {
                    is_free[at] = false;
                }
            }
        }
    }
    if old.len() == new.len() {
        for (index, place) in places.iter_mut().enumerate() {
            let may_be = is_free[index] && name_of(&old[index]).is_none() && name_of(&new[index]).is_none();
            if place.is_none() && may_be {
                *place = Some(index);
            }
        }
    }
    places
}

fn have_same_name(old: &Value, new: &Value) -> bool {
    name_of(old).is_some() && name_of(old) == name_of(new)
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}
