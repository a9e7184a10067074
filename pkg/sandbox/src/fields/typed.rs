//! Objects and their shapes: validation, field lists and removal of fields.

use serde_json::Value;

use super::{
    element::Element,
    set::{Entry, FieldSet},
    shape::{Choice, Kind, List, Map, Relation, Scalar, Shape},
};
use crate::go;

/// A mismatch between an object and its shape.
#[derive(Debug)]
pub(super) struct Misfit {
    path: String,
    problem: String,
}

/// Checks that an object fits its shape. Reports every mismatch in the real server's words. `duplicates` allows list
/// items with equal keys.
pub(super) fn check(object: &Value, shape: Shape<'_>, duplicates: bool) -> Result<(), String> {
    let mut checker = Checker { path: String::new(), duplicates, misfits: Vec::new() };
    checker.value(object, shape);
    let lines: Vec<String> = checker
        .misfits
        .into_iter()
        .map(|Misfit { path, problem }| if path.is_empty() { problem } else { format!("{path}: {problem}") })
        .collect();
    match lines.as_slice() {
        [] => Ok(()),
        [line] => Err(line.clone()),
        lines => Err(lines.iter().fold("errors:".to_owned(), |out, line| out + "\n  " + line)),
    }
}

struct Checker {
    path: String,
    duplicates: bool,
    misfits: Vec<Misfit>,
}

impl Checker {
    fn misfit(&mut self, problem: String) {
        self.misfits.push(Misfit { path: self.path.clone(), problem });
    }

    fn below(&mut self, element: &Element, value: &Value, shape: Shape<'_>) {
        let length = self.path.len();
        self.path += &element.to_string();
        self.value(value, shape);
        self.path.truncate(length);
    }

    fn value(&mut self, value: &Value, shape: Shape<'_>) {
        if value.is_null() {
            return;
        }
        match shape.kind(shape.choice(Some(value))) {
            Kind::Scalar(scalar) => self.scalar(value, scalar),
            Kind::List(list) => match value {
                Value::Array(items) => self.list(items, list),
                _ => self.misfit(format!("expected list, got &{{{}}}", go::plain(value))),
            },
            Kind::Map(map) => match value {
                Value::Object(fields) => self.map(fields, map),
                _ => self.misfit(format!("expected map, got &{{{}}}", go::plain(value))),
            },
        }
    }

    fn scalar(&mut self, value: &Value, scalar: Scalar) {
        let problem = match scalar {
            Scalar::Numeric if !value.is_number() => {
                format!("expected numeric (int or float), got {}", go::type_name(value))
            }
            Scalar::String if !value.is_string() => {
                format!("expected string, got &value.valueUnstructured{{Value:{}}}", go::syntax(value))
            }
            Scalar::Boolean if !value.is_boolean() => {
                format!("expected boolean, got &{{{}}}", go::plain(value))
            }
            Scalar::Any if value.is_array() || value.is_object() => {
                format!("expected any scalar, got &{{{}}}", go::plain(value))
            }
            Scalar::Numeric | Scalar::String | Scalar::Boolean | Scalar::Any => return,
        };
        self.misfit(problem);
    }

    fn list(&mut self, items: &[Value], list: List<'_>) {
        let mut seen = std::collections::BTreeSet::new();
        for (index, item) in (0_i64..).zip(items) {
            let element = match item_element(item, list) {
                None => Element::Index(index),
                Some(Err(problem)) => {
                    self.misfit(format!("element {index}: {problem}"));
                    return;
                }
                Some(Ok(element)) => {
                    if !self.duplicates && seen.contains(&element) {
                        self.misfit(format!("duplicate entries for key {element}"));
                    }
                    seen.insert(element.clone());
                    element
                }
            };
            self.below(&element, item, list.items);
        }
    }

    fn map(&mut self, fields: &serde_json::Map<String, Value>, map: Map<'_>) {
        for (name, value) in fields {
            let element = Element::field(name);
            let Some(shape) = map.field(name) else {
                self.path += &element.to_string();
                self.misfit("field not declared in schema".to_owned());
                self.path.truncate(self.path.len() - element.to_string().len());
                continue;
            };
            self.below(&element, value, shape);
        }
    }
}

/// Returns the identity of a list item. `None` if the list is atomic.
pub(super) fn item_element(item: &Value, list: List<'_>) -> Option<Result<Element, String>> {
    match list.relation {
        Relation::Atomic => None,
        Relation::Set => Some(match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(Element::Value(item.clone())),
        }),
        Relation::Keys(keys) => Some(keyed_element(item, list, keys)),
    }
}

fn keyed_element(item: &Value, list: List<'_>, keys: &[std::sync::Arc<str>]) -> Result<Element, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let shape = list.items.as_map();
    let found: Vec<(Box<str>, Value)> = keys
        .iter()
        .filter_map(|key| {
            let value = fields.get(&**key).or_else(|| shape.as_ref()?.default(key))?;
            Some(((&**key).into(), value.clone()))
        })
        .collect();
    if found.is_empty() {
        let keys: Vec<String> = keys.iter().map(|key| go::quoted(key)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
             values for any key fields)",
            keys.join(" ")
        ));
    }
    Ok(Element::key(found))
}

/// Returns the fields of an object: leaves, list items, and fields outside the schema.
/// Shape: the object fits its shape.
pub(super) fn fields_of(object: &Value, shape: Shape<'_>) -> FieldSet {
    fields_at(object, shape).below
}

fn fields_at(value: &Value, shape: Shape<'_>) -> Entry {
    let leaf = || Entry { member: true, below: FieldSet::default() };
    match shape.kind(shape.choice(Some(value))) {
        Kind::Scalar(_) => leaf(),
        Kind::List(list) if matches!(list.relation, Relation::Atomic) => leaf(),
        Kind::Map(map) if map.atomic => leaf(),
        Kind::List(list) => Entry { member: false, below: fields_of_items(value, list) },
        Kind::Map(map) => {
            let mut out = Entry::default();
            for (name, value) in value.as_object().into_iter().flatten() {
                let mut entry = fields_at(value, map.field(name).unwrap_or(Shape::Untyped));
                let hollow = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                entry.member |= hollow || !map.names(name);
                out.below.set(Element::field(name), entry);
            }
            out
        }
    }
}

/// Items with equal keys have one owner, without their fields.
fn fields_of_items(value: &Value, list: List<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for item in value.as_array().into_iter().flatten() {
        let Some(Ok(element)) = item_element(item, list) else { continue };
        let mut entry = Entry { member: true, below: FieldSet::default() };
        if out.get(&element).is_none() {
            entry.below = fields_at(item, list.items).below;
        }
        out.set(element, entry);
    }
    out
}

/// Returns the object without these fields and items and their descendants. A value that loses all its content becomes
/// null, as on the real server.
pub(super) fn remove(value: &Value, fields: &FieldSet, shape: Shape<'_>) -> Value {
    match (shape.kind(shape.choice(Some(value))), value) {
        (Kind::Scalar(_), _) => value.clone(),
        (Kind::Map(map), Value::Object(object)) if !map.atomic => {
            let mut out = serde_json::Map::new();
            for (name, value) in object {
                match fields.get(&Element::field(name)) {
                    Some(entry) if entry.member => {}
                    Some(entry) if !entry.below.is_empty() => {
                        let shape = map.field(name).unwrap_or(Shape::Untyped);
                        out.insert(name.clone(), remove(value, &entry.below, shape));
                    }
                    _ => {
                        out.insert(name.clone(), value.clone());
                    }
                }
            }
            if out.is_empty() { Value::Null } else { Value::Object(out) }
        }
        (Kind::List(list), Value::Array(items)) if !matches!(list.relation, Relation::Atomic) => {
            let out: Vec<Value> = items
                .iter()
                .filter_map(|item| {
                    let entry = item_element(item, list).and_then(Result::ok).and_then(|e| fields.get(&e));
                    match entry {
                        Some(entry) if entry.member => None,
                        Some(entry) if !entry.below.is_empty() => {
                            Some(remove(item, &entry.below, list.items))
                        }
                        _ => Some(item.clone()),
                    }
                })
                .collect();
            if out.is_empty() { Value::Null } else { Value::Array(out) }
        }
        (Kind::Map(_) | Kind::List(_), _) => Value::Null,
    }
}

/// Adds the named fields on the way to each member: the owner of `spec.replicas` also holds `spec`.
pub(super) fn with_named_parents(set: &FieldSet, shape: Option<Shape<'_>>) -> FieldSet {
    let map = shape.and_then(Shape::as_map);
    let list = shape.and_then(Shape::as_list);
    let mut out = FieldSet::default();
    for (element, entry) in set.entries() {
        let (named, below) = match (element, &map, &list) {
            (Element::Field(name), Some(map), _) => {
                (!entry.below.is_empty() && map.names(name), map.field(name))
            }
            (Element::Key(_), _, Some(list)) => (false, Some(list.items)),
            _ => (false, None),
        };
        let entry = Entry { member: entry.member || named, below: with_named_parents(&entry.below, below) };
        out.set(element.clone(), entry);
    }
    out
}

/// Adapts the set to a schema change: a value that became atomic is owned as a whole.
pub(super) fn follow_schema(set: &FieldSet, shape: Shape<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for (element, entry) in set.entries() {
        let below = match (shape.kind(Choice::Any), element) {
            (Kind::Map(map), _) if map.is_deduced() => None,
            (Kind::Map(map), Element::Field(name)) => map.field(name),
            (Kind::Map(_) | Kind::Scalar(_), _) => None,
            (Kind::List(list), _) => Some(list.items),
        };
        let entry = below.map_or_else(|| entry.clone(), |shape| follow_entry(entry, shape));
        out.set(element.clone(), entry);
    }
    out
}

fn follow_entry(entry: &Entry, shape: Shape<'_>) -> Entry {
    let whole = entry.member && entry.below.is_empty();
    let became_whole = match shape.kind(Choice::Any) {
        Kind::Scalar(_) => return entry.clone(),
        Kind::List(list) => matches!(list.relation, Relation::Atomic),
        Kind::Map(map) => map.atomic && !map.is_deduced(),
    };
    if whole {
        entry.clone()
    } else if became_whole {
        Entry { member: true, below: FieldSet::default() }
    } else {
        Entry { member: entry.member, below: follow_schema(&entry.below, shape) }
    }
}
