//! Strategic merge as kustomize does it, which is not as the API server does.
//!
//! `manifest::patch` merges as `kubectl patch` would. Here the exact kind decides on merge keys, elements come in the order
//! of the patch before those it does not name, and `$patch` is the one directive; all of it shows in the text of a build.
//! Source: kyaml 0.21 yaml/merge2 and yaml/walk, as observed with kustomize v5.8.1.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use manifest::{Map, Object, Value, type_name, yaml};

use crate::schema::{Schema, TypeId};

const DIRECTIVE: &str = "$patch";

/// A patch that does not go with the object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MergeProblem {
    #[error("`{path}` is {found} in the patch and {expected} in the object")]
    Type { path: String, expected: &'static str, found: &'static str },
    #[error("an element of `{path}` has no `{}`, by which elements are told apart", keys.join("` and no `"))]
    NoKey { path: String, keys: Vec<String> },
    #[error("`$patch` in `{path}` is none of `delete`, `replace` and `merge`")]
    Directive { path: String },
}

/// Where in an object a merge is.
#[derive(Clone, Copy)]
struct At<'a> {
    schema: &'a Schema,
    parent: Option<&'a At<'a>>,
    /// The name of the field; empty for the object itself.
    name: &'a str,
    /// What is known of the mapping there, or of the elements.
    of: Option<TypeId>,
    /// The merge keys where it is a list that is merged.
    keys: Option<&'a [Box<str>]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges a patch into an object, which is left without fields where the patch deletes it. One that is to replace the
/// object as a whole does nothing, as with kustomize. An object of an unknown kind is merged as the kind the patch was
/// written for.
/// # Errors
/// Says what does not go together; then the object may be changed in part.
pub(crate) fn merge(
    object: &mut Object,
    patch: &Map<String, Value>,
    written_for: Option<TypeId>,
    schema: &Schema,
) -> Result<(), MergeProblem> {
    let of = schema.kind(object.api_version(), object.kind()).or(written_for);
    let at = At { schema, parent: None, name: "", of, keys: None };
    match directive(patch, &at)? {
        Directive::Delete => {
            object.as_map_mut().clear();
            Ok(())
        }
        Directive::Replace => Ok(()),
        Directive::Merge => {
            drop_repeated(object.as_map_mut(), of, schema);
            merge_fields(object.as_map_mut(), patch, &at)
        }
    }
}

/// Leaves of elements with the same keys the last, in all lists of an object, whatever the patch names.
fn drop_repeated(fields: &mut Map<String, Value>, of: Option<TypeId>, schema: &Schema) {
    for (name, value) in fields {
        let Some(field) = of.and_then(|of| schema.field(of, name)) else { continue };
        match (value, field.keys.as_deref()) {
            (Value::Object(inner), None) => drop_repeated(inner, field.of, schema),
            (Value::Array(items), Some(keys)) => {
                *items = last_of_each(std::mem::take(items), keys);
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    drop_repeated(item, field.of, schema);
                }
            }
            _ => {}
        }
    }
}

/// Drops the fields of an object that were read without a value and still have none, as a merge does. In a list without merge
/// keys they stay, for a merge does not look into it.
pub(crate) fn drop_empty(object: &mut Object, pointers: &[String], schema: &Schema) {
    let of = schema.kind(object.api_version(), object.kind());
    for pointer in pointers {
        let steps = pointer.split('/').skip(1).map(manifest::pointer::name);
        drop_empty_at(object.as_map_mut(), of, &steps.collect::<Vec<_>>(), schema);
    }
}

fn drop_empty_at(fields: &mut Map<String, Value>, of: Option<TypeId>, steps: &[String], schema: &Schema) {
    let Some((name, rest)) = steps.split_first() else { return };
    let field = of.and_then(|of| schema.field(of, name));
    let of = field.and_then(|field| field.of);
    match (fields.get_mut(name), rest) {
        (Some(Value::Null), []) => drop(fields.remove(name)),
        (Some(Value::Object(inner)), rest) => drop_empty_at(inner, of, rest, schema),
        (Some(Value::Array(items)), [index, rest @ ..]) if field.is_some_and(|it| it.keys.is_some()) => {
            let item = index.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            if let Some(Value::Object(item)) = item {
                drop_empty_at(item, of, rest, schema);
            }
        }
        _ => {}
    }
}

/// Merges into a value; null on either side is what is not there.
fn merge_value(value: &mut Value, patch: &Value, at: &At<'_>) -> Result<(), MergeProblem> {
    match patch {
        Value::Null => *value = Value::Null,
        Value::Object(changes) => merge_mapping(value, changes, at)?,
        Value::Array(changes) => merge_list(value, changes, at)?,
        scalar => {
            if value.is_object() || value.is_array() {
                return Err(at.mismatch(value, scalar));
            }
            *value = if is_quoted(value) { as_text(scalar) } else { scalar.clone() };
        }
    }
    Ok(())
}

fn merge_mapping(value: &mut Value, changes: &Map<String, Value>, at: &At<'_>) -> Result<(), MergeProblem> {
    match directive(changes, at)? {
        Directive::Delete => {
            *value = Value::Null;
            return Ok(());
        }
        Directive::Replace => *value = Value::Null,
        Directive::Merge => {}
    }
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(fields) = value else {
        return Err(at.mismatch(value, &Value::Object(Map::new())));
    };
    let of = at.of.or_else(|| kind_in(fields, at.schema)).or_else(|| kind_in(changes, at.schema));
    merge_fields(fields, changes, &At { of, ..*at })
}

fn merge_fields(
    fields: &mut Map<String, Value>,
    changes: &Map<String, Value>,
    parent: &At<'_>,
) -> Result<(), MergeProblem> {
    for (name, change) in changes.iter().filter(|(name, _)| *name != DIRECTIVE) {
        let field = parent.of.and_then(|of| parent.schema.field(of, name));
        let at = At {
            schema: parent.schema,
            parent: Some(parent),
            name,
            of: field.and_then(|field| field.of),
            keys: field.and_then(|field| field.keys.as_deref()),
        };
        let mut value = fields.get_mut(name).map(Value::take).unwrap_or_default();
        merge_value(&mut value, change, &at)?;
        if value.is_null() {
            fields.remove(name);
        } else {
            fields.insert(name.clone(), value);
        }
    }
    Ok(())
}

fn merge_list(value: &mut Value, changes: &[Value], at: &At<'_>) -> Result<(), MergeProblem> {
    let old = match value.take() {
        Value::Null => None,
        Value::Array(old) => Some(old),
        other => return Err(at.mismatch(&other, &Value::Array(Vec::new()))),
    };
    let Some(keys) = at.keys else {
        *value = Value::Array(changes.to_vec());
        return Ok(());
    };
    let (directive, changes) = list_directive(changes, at)?;
    let old = match directive {
        Directive::Delete => return Ok(()),
        Directive::Replace => None,
        Directive::Merge => old,
    };
    let is_new = old.is_none();
    let old = old.unwrap_or_default();
    // A key that nothing has, such as the protocol of ports, tells nothing apart.
    let is_given = |key: &str| old.iter().chain(changes.iter().copied()).any(|one| one.get(key).is_some());
    let given: Vec<&str> = keys.iter().map(|key| &**key).filter(|key| is_given(key)).collect();
    let merged = match (keys, given.as_slice()) {
        ([], _) => merge_set(old, &changes),
        ([key], _) if is_new => merge_by_key(old, &last_of_each(changes, keys), key, at)?,
        ([key], _) => merge_by_key(old, &changes, key, at)?,
        (_, [key]) => merge_by_key(old, &changes, key, at)?,
        _ => merge_by_keys(old, &changes, keys, at)?,
    };
    *value = Value::Array(merged);
    Ok(())
}

/// Single values, each once, those of the patch first.
fn merge_set(old: Vec<Value>, changes: &[&Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let all = changes.iter().map(|&change| change.clone()).chain(old);
    all.filter(|value| seen.insert(text(value))).collect()
}

/// Of elements with the same keys the last, in the place of the first. A key that no element has does not count; an
/// element that lacks another stays.
fn last_of_each<V: Borrow<Value>>(elements: Vec<V>, keys: &[Box<str>]) -> Vec<V> {
    let is_given = |key: &&str| elements.iter().any(|element| element.borrow().get(*key).is_some());
    let keys: Vec<&str> = keys.iter().map(|key| &**key).filter(is_given).collect();
    let mut places = HashMap::new();
    let mut last: Vec<V> = Vec::with_capacity(elements.len());
    for element in elements {
        let id: Option<Vec<String>> = keys.iter().map(|key| element.borrow().get(*key).map(text)).collect();
        let place = id.filter(|id| !id.is_empty()).map(|id| *places.entry(id).or_insert(last.len()));
        match place.and_then(|place| last.get_mut(place)) {
            Some(earlier) => *earlier = element,
            None => last.push(element),
        }
    }
    last
}

/// Elements by one key: those the patch names come first, in its order.
fn merge_by_key(
    old: Vec<Value>,
    changes: &[&Value],
    key: &str,
    at: &At<'_>,
) -> Result<Vec<Value>, MergeProblem> {
    let mut places = HashMap::new();
    for (place, element) in old.iter().enumerate() {
        places.entry(element.get(key).map(text)).or_insert(place);
    }
    let mut old: Vec<Option<Value>> = old.into_iter().map(Some).collect();
    let mut merged = Vec::with_capacity(old.len() + changes.len());
    let mut seen = HashSet::new();
    for change in changes {
        let wanted = change.get(key).map(text);
        if wanted.is_none() {
            // In a new list there is nothing to tell it apart from.
            if !old.is_empty() || !change.is_object() {
                return Err(at.no_key(change));
            }
        } else if !seen.insert(wanted.clone()) {
            continue;
        }
        let found = places.get(&wanted).and_then(|place| old[*place].take());
        merged.extend(merge_element(found, change, at)?);
    }
    merged.extend(old.into_iter().flatten());
    Ok(merged)
}

/// Elements by several keys: those that are there stay in place, new ones come before them.
///
/// An element that differs only in that one side lacks a key, such as the protocol of a port, counts as the same; it stays
/// as it is.
fn merge_by_keys(
    old: Vec<Value>,
    changes: &[&Value],
    keys: &[Box<str>],
    at: &At<'_>,
) -> Result<Vec<Value>, MergeProblem> {
    let ids_of = |element: &Value| -> Vec<Option<String>> {
        keys.iter().map(|key| element.get(&**key).map(text)).collect()
    };
    let ids: Vec<_> = old.iter().map(&ids_of).collect();
    let places: HashMap<_, _> = ids.iter().enumerate().rev().map(|(place, id)| (id, place)).collect();
    let mut old: Vec<Option<Value>> = old.into_iter().map(Some).collect();
    let mut merged = Vec::new();
    let mut seen = HashSet::new();
    for change in changes {
        let wanted = ids_of(change);
        if wanted.iter().all(Option::is_none) {
            return Err(at.no_key(change));
        }
        if let Some(place) = places.get(&wanted) {
            let found = old[*place].take();
            old[*place] = merge_element(found, change, at)?;
        } else if !ids.iter().any(|id| are_alike(id, &wanted)) && seen.insert(wanted) {
            merged.extend(merge_element(None, change, at)?);
        }
    }
    merged.extend(old.into_iter().flatten());
    Ok(merged)
}

/// Whether two ids share a key and differ only where one of them has none.
fn are_alike(one: &[Option<String>], other: &[Option<String>]) -> bool {
    let pairs = || one.iter().zip(other);
    pairs().any(|(a, b)| a == b) && pairs().all(|(a, b)| a == b || a.is_none() || b.is_none())
}

/// Merges one element; there is none left where the patch deletes it. `$patch: replace` replaces lists and fields, not
/// elements that are there.
fn merge_element(element: Option<Value>, change: &Value, at: &At<'_>) -> Result<Option<Value>, MergeProblem> {
    let Value::Object(changes) = change else { return Err(at.no_key(change)) };
    if element.is_some() && directive(changes, at)? == Directive::Replace {
        return Ok(element);
    }
    let mut merged = element.unwrap_or_default();
    merge_mapping(&mut merged, changes, at)?;
    Ok(Some(merged).filter(|merged| !merged.is_null()))
}

/// Reads what a patch says about a mapping as a whole.
fn directive(changes: &Map<String, Value>, at: &At<'_>) -> Result<Directive, MergeProblem> {
    match changes.get(DIRECTIVE).map(Value::as_str) {
        None | Some(Some("merge")) => Ok(Directive::Merge),
        Some(Some("replace")) => Ok(Directive::Replace),
        Some(Some("delete")) => Ok(Directive::Delete),
        Some(_) => Err(MergeProblem::Directive { path: at.to_string() }),
    }
}

/// Reads what a patch says about a list as a whole, in an element with nothing else; gives the other elements.
fn list_directive<'v>(
    changes: &'v [Value],
    at: &At<'_>,
) -> Result<(Directive, Vec<&'v Value>), MergeProblem> {
    let mut found = Directive::Merge;
    let mut others = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            Value::Object(fields) if fields.len() == 1 && fields.contains_key(DIRECTIVE) => {
                found = directive(fields, at)?;
            }
            other => others.push(other),
        }
    }
    Ok((found, others))
}

fn kind_in(fields: &Map<String, Value>, schema: &Schema) -> Option<TypeId> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    schema.kind(text("apiVersion")?, text("kind")?)
}

/// Whether a text must have been quoted to be one; then what takes its place is a text too.
fn is_quoted(value: &Value) -> bool {
    let reads_as_text = |text: &str| {
        yaml::read_value(text, &manifest::Limits::default()).is_ok_and(|value| value.is_string())
    };
    value.as_str().is_some_and(|text| !reads_as_text(text))
}

fn as_text(value: &Value) -> Value {
    Value::String(text(value))
}

/// The text of a value, without quotes.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl At<'_> {
    fn mismatch(&self, value: &Value, patch: &Value) -> MergeProblem {
        MergeProblem::Type { path: self.to_string(), expected: type_name(value), found: type_name(patch) }
    }

    fn no_key(&self, element: &Value) -> MergeProblem {
        match element {
            Value::Object(_) => {
                let keys = self.keys.unwrap_or_default().iter().map(ToString::to_string).collect();
                MergeProblem::NoKey { path: self.to_string(), keys }
            }
            other => MergeProblem::Type {
                path: format!("{self}[]"),
                expected: "a mapping",
                found: type_name(other),
            },
        }
    }
}

/// The way to the place, such as `spec.template.spec`.
impl fmt::Display for At<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parent {
            Some(parent) if parent.parent.is_some() => write!(formatter, "{parent}.{}", self.name),
            _ => formatter.write_str(if self.name.is_empty() { "." } else { self.name }),
        }
    }
}

#[cfg(test)]
mod tests;
