//! The order of merged lists: the order of the patch, with other items in their old positions.

use std::{collections::HashMap, mem::discriminant};

use serde_json::Value;

use super::{internal, unprocessable};
use crate::{go, status::Status};

/// The type of list items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemType {
    Maps,
    Scalars,
}

/// Returns the common type of the items of these lists.
/// Errors: 422 for lists of lists; 500 if the items differ in type or there are no items.
pub(super) fn item_type(lists: [&[Value]; 2]) -> Result<ItemType, Status> {
    let mut all = lists.into_iter().flatten();
    let Some(first) = all.next() else {
        return Err(internal("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(unprocessable());
    }
    let alike = |other: &Value| match (first, other) {
        (Value::Number(a), Value::Number(b)) => a.is_i64() == b.is_i64(),
        _ => discriminant(first) == discriminant(other),
    };
    if !all.all(alike) {
        let lists = Value::Array(lists.map(|list| Value::Array(list.to_vec())).into());
        return Err(internal(format!("list element types are not identical: {}", go::plain(&lists))));
    }
    Ok(if first.is_object() { ItemType::Maps } else { ItemType::Scalars })
}

/// Returns the identity of an item: the value of its merge key, or the item itself without a merge key.
fn identity<'a>(item: &'a Value, merge_key: Option<&str>) -> Option<&'a Value> {
    match merge_key {
        Some(key) => item.get(key),
        None => Some(item),
    }
}

/// The positions of list items by identity. Of equal items, the first counts.
struct ItemPositions<'a> {
    by_identity: HashMap<Option<&'a Value>, usize>,
    merge_key: Option<&'a str>,
}

impl<'a> ItemPositions<'a> {
    fn of(list: &'a [Value], merge_key: Option<&'a str>) -> Self {
        let mut of = HashMap::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            of.entry(identity(item, merge_key)).or_insert(index);
        }
        Self { by_identity: of, merge_key }
    }

    fn get(&self, item: &Value) -> Option<usize> {
        self.by_identity.get(&identity(item, self.merge_key)).copied()
    }
}

/// Orders a merged list. Items that `order` names follow `order`; other items follow `live`. The two groups are
/// interleaved by their positions in `live`.
/// Errors: 500 if an item lacks the merge key.
pub(super) fn order_items(
    merged: Vec<Value>,
    order: &[Value],
    live: &[Value],
    merge_key: Option<&str>,
) -> Result<Vec<Value>, Status> {
    if let Some(key) = merge_key {
        for item in merged.iter().chain(order) {
            key_of(item, key)?;
        }
    }
    let (order, live) = (ItemPositions::of(order, merge_key), ItemPositions::of(live, merge_key));
    let (named, others): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| order.get(item).is_some());
    let (named, others) = (sorted(named, &order), sorted(others, &live));

    let mut out = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, item) in named {
        let here = live.get(&item);
        while let Some((_, other)) =
            others.next_if(|(other, _)| matches!((other, here), (Some(other), Some(here)) if *other < here))
        {
            out.push(other);
        }
        out.push(item);
    }
    out.extend(others.map(|(_, item)| item));
    Ok(out)
}

/// Sorts items by their positions in a list and returns the positions. Unknown items come first, in reverse order. The
/// real server uses insertion sort and treats unknown items as smaller than all others.
fn sorted(items: Vec<Value>, list: &ItemPositions<'_>) -> Vec<(Option<usize>, Value)> {
    let mut items: Vec<_> = items.into_iter().map(|item| (list.get(&item), item)).collect();
    if items.iter().all(|(place, _)| place.is_some()) {
        items.sort_by_key(|(place, _)| *place);
        return items;
    }
    for end in 1..items.len() {
        for i in (1..=end).rev() {
            match (items[i].0, items[i - 1].0) {
                (Some(this), Some(before)) if this >= before => break,
                _ => items.swap(i, i - 1),
            }
        }
    }
    items
}

/// Returns the value of an item's merge key.
/// Errors: 500 if the item is not an object or lacks the field.
pub(super) fn key_of<'a>(item: &'a Value, key: &str) -> Result<&'a Value, Status> {
    if !item.is_object() {
        return Err(bad_type("map[string]interface {}", item));
    }
    item.get(key).ok_or_else(|| {
        internal(format!("map: {} does not contain declared merge key: {key}", go::plain(item)))
    })
}

pub(super) fn bad_type(expected: &str, found: &Value) -> Status {
    let found = match found {
        Value::Null => "%!s(<nil>)",
        found => go::type_name(found),
    };
    internal(format!("expected a {expected}, but received a {found}"))
}
