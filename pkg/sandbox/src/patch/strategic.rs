//! Strategic merge patch.
//!
//! Source: kube-apiserver 1.36 with apimachinery `strategicpatch`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    bad_request, internal,
    order::{ItemType, bad_type, item_type, key_of, order_items},
    without_nulls,
};
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
    internal(format!("unknown patch type: {} in map: {}", go::plain(directive), go::plain(patch)))
}

/// Returns the field that a directive such as `$setElementOrder/finalizers` names.
fn directive_field<'a>(key: &'a str, prefix: &str, problem: &str) -> Result<&'a str, Status> {
    key.strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('/'))
        .ok_or_else(|| bad_request(problem.to_owned()))
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
        internal("merging an object in json but data type is not struct, instead is: map".to_owned())
    })
}

/// Removes all fields that `$retainKeys` does not list.
fn retain_keys(live: &mut Fields, patch: &mut Fields) -> Result<(), Status> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let wrong = || bad_request("invalid patch format of retainKeys".to_owned());
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
    Err(internal(format!(
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
                return Err(internal("cannot merge lists without merge key for struct".to_owned()));
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
                return Err(internal("merging lists cannot yet be specified in the patch".to_owned()));
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
