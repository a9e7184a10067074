//! Strategic merge with the semantics of kustomize, which differ from those of the API server.
//!
//! `manifest::patch` merges as `kubectl patch` does. Here, merge keys depend on the exact kind, and `$patch` is the
//! only directive. Elements named by the patch come first, in its order. All of this shows in the text of a build.
//! Source: kyaml 0.21 yaml/merge2 and yaml/walk, as observed with kustomize v5.8.1.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use manifest::{Map, Object, Value, type_name, value_text, yaml};

use crate::schema::{Schema, TypeId};

const DIRECTIVE: &str = "$patch";

/// A patch that does not fit the object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MergeError {
    #[error("`{path}` is {found} in the patch and {expected} in the object")]
    Type { path: String, expected: &'static str, found: &'static str },
    #[error("an element of `{path}` has no merge key `{}`", keys.join("` or `"))]
    NoKey { path: String, keys: Vec<String> },
    #[error("`$patch` in `{path}` must be `delete`, `replace` or `merge`")]
    Directive { path: String },
}

/// The position of a merge in an object.
#[derive(Clone, Copy)]
struct MergePosition<'a> {
    schema: &'a Schema,
    parent: Option<&'a MergePosition<'a>>,
    /// The name of the field; empty for the object itself.
    name: &'a str,
    /// The schema type of the mapping, or of the elements.
    type_id: Option<TypeId>,
    /// The merge keys of a list that is merged.
    keys: Option<&'a [Box<str>]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges a patch into an object. A patch that deletes the object leaves it without fields.
///
/// As in kustomize, `$patch: replace` for the whole object does nothing. An object of an unknown kind is merged as the
/// kind in `written_for`.
/// # Errors
/// The first mismatch; the object may then be partly changed.
pub(crate) fn merge(
    object: &mut Object,
    patch: &Map<String, Value>,
    written_for: Option<TypeId>,
    schema: &Schema,
) -> Result<(), MergeError> {
    let of = schema.kind(object.api_version(), object.kind()).or(written_for);
    let at = MergePosition { schema, parent: None, name: "", type_id: of, keys: None };
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

/// Keeps only the last of several elements with equal keys, in all lists of an object, even if the patch does not name
/// the list.
fn drop_repeated(fields: &mut Map<String, Value>, of: Option<TypeId>, schema: &Schema) {
    for (name, value) in fields {
        let Some(field) = of.and_then(|of| schema.field(of, name)) else { continue };
        match (value, field.keys.as_deref()) {
            (Value::Object(inner), None) => drop_repeated(inner, field.type_id, schema),
            (Value::Array(items), Some(keys)) => {
                *items = drop_duplicates(std::mem::take(items), keys);
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    drop_repeated(item, field.type_id, schema);
                }
            }
            _ => {}
        }
    }
}

/// Drops the fields of an object that were read without a value and still have none, as a merge does. In a list without
/// merge keys they stay, as a merge does not enter such a list.
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
    let of = field.and_then(|field| field.type_id);
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

/// Merges into a value; null on either side stands for an absent value.
fn merge_value(value: &mut Value, patch: &Value, at: &MergePosition<'_>) -> Result<(), MergeError> {
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

fn merge_mapping(
    value: &mut Value,
    changes: &Map<String, Value>,
    at: &MergePosition<'_>,
) -> Result<(), MergeError> {
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
    let of = at.type_id.or_else(|| kind_in(fields, at.schema)).or_else(|| kind_in(changes, at.schema));
    merge_fields(fields, changes, &MergePosition { type_id: of, ..*at })
}

fn merge_fields(
    fields: &mut Map<String, Value>,
    changes: &Map<String, Value>,
    parent: &MergePosition<'_>,
) -> Result<(), MergeError> {
    for (name, change) in changes.iter().filter(|(name, _)| *name != DIRECTIVE) {
        let field = parent.type_id.and_then(|of| parent.schema.field(of, name));
        let at = MergePosition {
            schema: parent.schema,
            parent: Some(parent),
            name,
            type_id: field.and_then(|field| field.type_id),
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

fn merge_list(value: &mut Value, changes: &[Value], at: &MergePosition<'_>) -> Result<(), MergeError> {
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
    // A key that no element has, such as the protocol of ports, cannot identify elements.
    let is_given = |key: &str| old.iter().chain(changes.iter().copied()).any(|one| one.get(key).is_some());
    let given: Vec<&str> = keys.iter().map(|key| &**key).filter(|key| is_given(key)).collect();
    let merged = match (keys, given.as_slice()) {
        ([], _) => merge_set(old, &changes),
        ([key], _) if is_new => merge_by_key(old, &drop_duplicates(changes, keys), key, at)?,
        ([key], _) => merge_by_key(old, &changes, key, at)?,
        (_, [key]) => merge_by_key(old, &changes, key, at)?,
        _ => merge_by_keys(old, &changes, keys, at)?,
    };
    *value = Value::Array(merged);
    Ok(())
}

/// Merges lists of single values: each value once, the values of the patch first.
fn merge_set(old: Vec<Value>, changes: &[&Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let all = changes.iter().map(|&change| change.clone()).chain(old);
    all.filter(|value| seen.insert(value_text(value))).collect()
}

/// Keeps the last of several elements with equal keys, at the position of the first. Ignores a key that no element has;
/// keeps an element that lacks another key.
fn drop_duplicates<V: Borrow<Value>>(elements: Vec<V>, keys: &[Box<str>]) -> Vec<V> {
    let is_given = |key: &&str| elements.iter().any(|element| element.borrow().get(*key).is_some());
    let keys: Vec<&str> = keys.iter().map(|key| &**key).filter(is_given).collect();
    let mut places = HashMap::new();
    let mut last: Vec<V> = Vec::with_capacity(elements.len());
    for element in elements {
        let id: Option<Vec<String>> =
            keys.iter().map(|key| element.borrow().get(*key).map(value_text)).collect();
        let place = id.filter(|id| !id.is_empty()).map(|id| *places.entry(id).or_insert(last.len()));
        match place.and_then(|place| last.get_mut(place)) {
            Some(earlier) => *earlier = element,
            None => last.push(element),
        }
    }
    last
}

/// Merges elements by one key: the elements named by the patch come first, in its order.
fn merge_by_key(
    old: Vec<Value>,
    changes: &[&Value],
    key: &str,
    at: &MergePosition<'_>,
) -> Result<Vec<Value>, MergeError> {
    let mut places = HashMap::new();
    for (place, element) in old.iter().enumerate() {
        places.entry(element.get(key).map(value_text)).or_insert(place);
    }
    let mut old: Vec<Option<Value>> = old.into_iter().map(Some).collect();
    let mut merged = Vec::with_capacity(old.len() + changes.len());
    let mut seen = HashSet::new();
    for change in changes {
        let wanted = change.get(key).map(value_text);
        if wanted.is_none() {
            // A new list has no other elements, so the key is not needed.
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

/// Merges elements by several keys: existing elements keep their position, new elements come before them.
///
/// If two elements differ only because one lacks a key, such as the protocol of a port, they count as the same. The
/// existing element then stays unchanged.
fn merge_by_keys(
    old: Vec<Value>,
    changes: &[&Value],
    keys: &[Box<str>],
    at: &MergePosition<'_>,
) -> Result<Vec<Value>, MergeError> {
    let ids_of = |element: &Value| -> Vec<Option<String>> {
        keys.iter().map(|key| element.get(&**key).map(value_text)).collect()
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
        } else if !ids.iter().any(|id| are_compatible(id, &wanted)) && seen.insert(wanted) {
            merged.extend(merge_element(None, change, at)?);
        }
    }
    merged.extend(old.into_iter().flatten());
    Ok(merged)
}

/// True if two ids share a key and differ only where one of them has none.
fn are_compatible(one: &[Option<String>], other: &[Option<String>]) -> bool {
    let pairs = || one.iter().zip(other);
    pairs().any(|(a, b)| a == b) && pairs().all(|(a, b)| a == b || a.is_none() || b.is_none())
}

/// Merges one element. `None` if the patch deletes the element. `$patch: replace` applies to lists and fields, not to
/// existing elements.
fn merge_element(
    element: Option<Value>,
    change: &Value,
    at: &MergePosition<'_>,
) -> Result<Option<Value>, MergeError> {
    let Value::Object(changes) = change else { return Err(at.no_key(change)) };
    if element.is_some() && directive(changes, at)? == Directive::Replace {
        return Ok(element);
    }
    let mut merged = element.unwrap_or_default();
    merge_mapping(&mut merged, changes, at)?;
    Ok(Some(merged).filter(|merged| !merged.is_null()))
}

/// Reads the directive of a patch for a whole mapping.
fn directive(changes: &Map<String, Value>, at: &MergePosition<'_>) -> Result<Directive, MergeError> {
    match changes.get(DIRECTIVE).map(Value::as_str) {
        None | Some(Some("merge")) => Ok(Directive::Merge),
        Some(Some("replace")) => Ok(Directive::Replace),
        Some(Some("delete")) => Ok(Directive::Delete),
        Some(_) => Err(MergeError::Directive { path: at.to_string() }),
    }
}

/// Reads the directive of a patch for a whole list, from an element without other fields. Returns the other elements.
fn list_directive<'v>(
    changes: &'v [Value],
    at: &MergePosition<'_>,
) -> Result<(Directive, Vec<&'v Value>), MergeError> {
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

/// True if a string needs quotes in YAML; its replacement then stays a string.
fn is_quoted(value: &Value) -> bool {
    let reads_as_text = |text: &str| {
        yaml::read_value(text, &manifest::YamlLimits::default()).is_ok_and(|value| value.is_string())
    };
    value.as_str().is_some_and(|text| !reads_as_text(text))
}

fn as_text(value: &Value) -> Value {
    Value::String(value_text(value))
}

impl MergePosition<'_> {
    fn mismatch(&self, value: &Value, patch: &Value) -> MergeError {
        MergeError::Type { path: self.to_string(), expected: type_name(value), found: type_name(patch) }
    }

    fn no_key(&self, element: &Value) -> MergeError {
        match element {
            Value::Object(_) => {
                let keys = self.keys.unwrap_or_default().iter().map(ToString::to_string).collect();
                MergeError::NoKey { path: self.to_string(), keys }
            }
            other => {
                MergeError::Type { path: format!("{self}[]"), expected: "a mapping", found: type_name(other) }
            }
        }
    }
}

/// Writes the path of the position, such as `spec.template.spec`.
impl fmt::Display for MergePosition<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parent {
            Some(parent) if parent.parent.is_some() => write!(formatter, "{parent}.{}", self.name),
            _ => formatter.write_str(if self.name.is_empty() { "." } else { self.name }),
        }
    }
}

#[cfg(test)]
mod tests;
