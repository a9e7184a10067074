//! Strategic merge patch. Merged lists have the order of the patch, with other items in their old positions.
//!
//! Source: kube-apiserver 1.36 with apimachinery `strategicpatch`.

use std::{
    collections::{HashMap, HashSet},
    mem::discriminant,
};

use serde_json::{Map, Value};

use super::{unprocessable, without_nulls};
use crate::{go, schema::Schema, status::Status};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

type Fields = Map<String, Value>;

/// Merges a patch into an object.
pub(super) fn merge_maps(mut live: Fields, mut patch: Fields, schema: Schema<'_>) -> Result<Fields, Status> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Fields::new()),
            _ => {
                patch.insert(DIRECTIVE.to_owned(), directive.clone());
                Err(unknown_directive(&directive, &Value::Object(patch)))
            }
        };
    }
    retain_keys(&mut live, &mut patch)?;
    merge_ordered_lists(&mut live, &mut patch, schema)?;
    for (key, value) in patch {
        if key.starts_with(DELETE_FROM_LIST) {
            let name =
                directive_field(&key, DELETE_FROM_LIST, "invalid patch format of primitive list")?.to_owned();
            delete_from_list(&mut live, &name, &value);
        } else {
            merge_field(&mut live, key, value, schema)?;
        }
    }
    Ok(live)
}

fn unknown_directive(directive: &Value, patch: &Value) -> Status {
    Status::internal_without_details(format!(
        "unknown patch type: {} in map: {}",
        go::plain(directive),
        go::plain(patch)
    ))
}

/// Returns the field that a directive such as `$setElementOrder/finalizers` names.
fn directive_field<'a>(key: &'a str, prefix: &str, problem: &str) -> Result<&'a str, Status> {
    key.strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('/'))
        .ok_or_else(|| Status::bad_request(problem.to_owned()))
}

fn merge_field(live: &mut Fields, name: String, patch: Value, schema: Schema<'_>) -> Result<(), Status> {
    let merged = match (live.remove(&name), patch) {
        (_, Value::Null) => return Ok(()),
        (Some(Value::Object(live)), Value::Object(patch)) => {
            let field = described_field(schema, &name)?;
            let replaces = field.node().patch.replace;
            Some(Value::Object(if replaces { patch } else { merge_maps(live, patch, field)? }))
        }
        (Some(Value::Array(live)), Value::Array(patch)) => {
            let field = described_field(schema, &name)?;
            Some(Value::Array(merge_lists(live, patch, field)?))
        }
        (_, patch) => without_directives(without_nulls(&patch)),
    };
    if let Some(merged) = merged {
        live.insert(name, merged);
    }
    Ok(())
}

/// Returns the schema of a field of both objects. Only structs have patch rules below their fields.
fn described_field<'a>(schema: Schema<'a>, name: &str) -> Result<Schema<'a>, Status> {
    let known = schema.node().properties.contains_key(name);
    schema.field(name).filter(|_| known).ok_or_else(|| {
        Status::internal_without_details(
            "merging an object in json but data type is not struct, instead is: map".to_owned(),
        )
    })
}

/// Removes all fields that `$retainKeys` does not list.
fn retain_keys(live: &mut Fields, patch: &mut Fields) -> Result<(), Status> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let wrong = || Status::bad_request("invalid patch format of retainKeys".to_owned());
    let keys = keys.as_array().ok_or_else(wrong)?;
    let listed = |name: &str| keys.iter().any(|key| key == name);
    let fits = patch.iter().all(|(name, value)| {
        value.is_null()
            || name.starts_with(DELETE_FROM_LIST)
            || name.starts_with(ELEMENT_ORDER)
            || listed(name)
    });
    if !fits {
        return Err(wrong());
    }
    live.retain(|name, _| listed(name));
    Ok(())
}

fn delete_from_list(live: &mut Fields, name: &str, values: &Value) {
    match (values, live.get_mut(name)) {
        (Value::Null, _) => {
            live.remove(name);
        }
        (Value::Array(values), Some(Value::Array(items))) => {
            let doomed: HashSet<&Value> = values.iter().collect();
            items.retain(|item| !doomed.contains(item));
        }
        _ => {}
    }
}

/// Merges the lists with a `$setElementOrder/…` directive, and removes the directives and the lists from the patch.
fn merge_ordered_lists(live: &mut Fields, patch: &mut Fields, schema: Schema<'_>) -> Result<(), Status> {
    let directives: Vec<String> =
        patch.keys().filter(|key| key.starts_with(ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        let Value::Array(order) = order else { return Err(bad_type("[]interface {}", &order)) };
        let name =
            directive_field(&directive, ELEMENT_ORDER, "invalid patch format of setElementOrder list")?;
        let list = |value: Option<&Value>| match value {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items.clone())),
            Some(other) => Err(bad_type("[]interface {}", other)),
        };
        let (before, wanted) = (list(live.get(name))?, list(patch.get(name))?);
        if before.is_none() && wanted.is_none() {
            continue;
        }
        let ordered = merge_ordered(before, wanted, &order, described_field(schema, name)?)?;
        live.insert(name.to_owned(), Value::Array(ordered));
        patch.remove(name);
    }
    Ok(())
}

fn merge_ordered(
    live: Option<Vec<Value>>,
    patch: Option<Vec<Value>>,
    order: &[Value],
    field: Schema<'_>,
) -> Result<Vec<Value>, Status> {
    let merge_key = field.node().patch.merge_key.as_deref();
    check_order(patch.as_deref().unwrap_or_default(), order, merge_key)?;
    let live_items = live.clone().unwrap_or_default();
    let patch_items = patch.clone().unwrap_or_default();
    let merged = match (live, patch) {
        (Some(live), Some(patch)) => merge_lists(live, patch, field)?,
        (Some(items), None) => items,
        (None, patch) => patch.unwrap_or_default().into_iter().filter_map(without_directives).collect(),
    };
    let kind = item_type([&live_items, &patch_items])?;
    let live_order = match merge_key {
        Some(key) if kind == ItemType::Maps => order_after(live_items, &patch_items, key),
        _ => live_items,
    };
    order_items(merged, order, &live_order, merge_key)
}

/// Returns the live list that determines the order after the merge. The real server works in place: deletions move
/// later items up, and new items fill the free positions at the end.
fn order_after(mut live: Vec<Value>, patch: &[Value], key: &str) -> Vec<Value> {
    let mut length = live.len();
    let known = |live: &[Value], item: &Value| live.iter().position(|other| other.get(key) == item.get(key));
    let is = |item: &Value, word: &str| item.get(DIRECTIVE).is_some_and(|directive| directive == word);
    for item in patch.iter().filter(|item| is(item, "delete")) {
        while let Some(place) = known(&live[..length], item) {
            let last = live[length - 1].clone();
            live[place..length].rotate_left(1);
            live[length - 1] = last;
            length -= 1;
        }
    }
    if !patch.iter().any(|item| is(item, "replace")) {
        for item in patch.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
            if length < live.len() && known(&live[..length], item).is_none() {
                live[length] = item.clone();
                length += 1;
            }
        }
    }
    live
}

/// Fails if the items of a patch contradict their given order. Deletions are ignored. Other directives count once the
/// order is used up, as on the real server.
fn check_order(patch: &[Value], order: &[Value], merge_key: Option<&str>) -> Result<(), Status> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    if let (Some(_), Some(item)) = (merge_key, patch.iter().find(|item| !item.is_object())) {
        return Err(bad_type("map[string]interface {}", item));
    }
    let identity = |item| merge_key.map_or(Ok(item), |key| key_of(item, key));
    let directive = |item: &Value| item.get(DIRECTIVE).cloned();
    let deletes = |item: &Value| merge_key.is_some() && directive(item).is_some_and(|word| word == "delete");
    let mut items = patch.iter().filter(|item| !deletes(item)).peekable();
    for named in order {
        while items.next_if(|item| directive(item).is_some()).is_some() {}
        let Some(item) = items.peek() else { break };
        if identity(item)? == identity(named)? {
            items.next();
        }
    }
    if items.next().is_none() {
        return Ok(());
    }
    Err(Status::internal_without_details(format!(
        "The order in patch list:\n{}\n doesn't match {ELEMENT_ORDER} list:\n{}\n",
        go::plain(&Value::Array(patch.to_vec())),
        go::plain(&Value::Array(order.to_vec())),
    )))
}

fn merge_lists(live: Vec<Value>, patch: Vec<Value>, field: Schema<'_>) -> Result<Vec<Value>, Status> {
    let strategy = &field.node().patch;
    if !strategy.merge {
        return Ok(patch);
    }
    if live.is_empty() && patch.is_empty() {
        return Ok(live);
    }
    match item_type([&live, &patch])? {
        ItemType::Scalars => {
            let mut seen = HashSet::new();
            let merged = live.iter().chain(&patch).filter(|item| seen.insert(*item)).cloned().collect();
            order_items(merged, &patch, &live, None)
        }
        ItemType::Maps => {
            let Some(key) = strategy.merge_key.as_deref() else {
                return Err(Status::internal_without_details(
                    "cannot merge lists without merge key for struct".to_owned(),
                ));
            };
            merge_items(live, patch, key, field.items())
        }
    }
}

fn merge_items(
    live: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
    schema: Option<Schema<'_>>,
) -> Result<Vec<Value>, Status> {
    let (live, patch) = apply_directives(live, patch, key)?;
    let mut merged = live.clone();
    let mut places: HashMap<&Value, usize> = HashMap::new();
    for (index, item) in live.iter().enumerate() {
        if let Some(value) = item.get(key) {
            places.entry(value).or_insert(index);
        }
    }
    for item in &patch {
        let wanted = key_of(item, key)?;
        if let (Some(place), Value::Object(item), Some(schema)) = (places.get(wanted), item, schema) {
            let before = match merged[*place].take() {
                Value::Object(before) => before,
                _ => Fields::new(),
            };
            merged[*place] = Value::Object(merge_maps(before, item.clone(), schema)?);
        } else {
            places.entry(wanted).or_insert(merged.len());
            merged.push(item.clone());
        }
    }
    order_items(merged, &patch, &live, Some(key))
}

/// Removes the items that the patch deletes, or all items for a replacement. Returns the remaining items of both lists.
fn apply_directives(
    mut live: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), Status> {
    let (mut rest, mut doomed, mut replace) = (Vec::new(), HashSet::new(), false);
    for item in patch {
        match item.get(DIRECTIVE) {
            None => rest.push(item),
            Some(Value::String(directive)) if directive == "delete" => {
                doomed.insert(key_of(&item, key)?.clone());
            }
            Some(Value::String(directive)) if directive == "replace" => replace = true,
            Some(Value::String(directive)) if directive == "merge" => {
                return Err(Status::internal_without_details(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            Some(directive) => return Err(unknown_directive(directive, &item)),
        }
    }
    live.retain(|item| item.get(key).is_none_or(|value| !doomed.contains(value)));
    Ok(if replace { (rest, Vec::new()) } else { (live, rest) })
}

/// Removes all values with a directive from a new value. `None` if nothing remains.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => Some(
            fields.into_iter().filter_map(|(name, value)| Some((name, without_directives(value)?))).collect(),
        ),
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
    }
}

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
        return Err(Status::internal_without_details("no elements in any of the given slices".to_owned()));
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
        return Err(Status::internal_without_details(format!(
            "list element types are not identical: {}",
            go::plain(&lists)
        )));
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
        Status::internal_without_details(format!(
            "map: {} does not contain declared merge key: {key}",
            go::plain(item)
        ))
    })
}

pub(super) fn bad_type(expected: &str, found: &Value) -> Status {
    let found = match found {
        Value::Null => "%!s(<nil>)",
        found => go::type_name(found),
    };
    Status::internal_without_details(format!("expected a {expected}, but received a {found}"))
}
