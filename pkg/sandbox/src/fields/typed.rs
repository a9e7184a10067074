//! Objects and their shapes: validation, field lists, removal of fields, and objects without written fields.

use serde_json::{Map, Value};

use super::{
    path_element::PathElement,
    set::{FieldSet, FieldSetEntry},
    shape::{ClassChoice, ListRule, MapRule, Relation, Scalar, Shape, ShapeClass},
};
use crate::go;

/// A mismatch between an object and its shape.
#[derive(Debug)]
pub(super) struct Mismatch {
    path: String,
    problem: String,
}

/// Checks that an object fits its shape. Reports every mismatch in the real server's words. `duplicates` allows list
/// items with equal keys.
pub(super) fn check(object: &Value, shape: Shape<'_>, duplicates: bool) -> Result<(), String> {
    let mut checker = Checker { path: String::new(), duplicates, mismatches: Vec::new() };
    checker.value(object, shape);
    let lines: Vec<String> = checker
        .mismatches
        .into_iter()
        .map(
            |Mismatch { path, problem }| if path.is_empty() { problem } else { format!("{path}: {problem}") },
        )
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
    mismatches: Vec<Mismatch>,
}

impl Checker {
    fn mismatch(&mut self, problem: String) {
        self.mismatches.push(Mismatch { path: self.path.clone(), problem });
    }

    fn below(&mut self, element: &PathElement, value: &Value, shape: Shape<'_>) {
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
            ShapeClass::Scalar(scalar) => self.scalar(value, scalar),
            ShapeClass::List(list) => match value {
                Value::Array(items) => self.list(items, list),
                _ => self.mismatch(format!("expected list, got &{{{}}}", go::plain(value))),
            },
            ShapeClass::Map(map) => match value {
                Value::Object(fields) => self.map(fields, map),
                _ => self.mismatch(format!("expected map, got &{{{}}}", go::plain(value))),
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
        self.mismatch(problem);
    }

    fn list(&mut self, items: &[Value], list: ListRule<'_>) {
        let mut seen = std::collections::BTreeSet::new();
        for (index, item) in (0_i64..).zip(items) {
            let element = match item_element(item, list) {
                None => PathElement::Index(index),
                Some(Err(problem)) => {
                    self.mismatch(format!("element {index}: {problem}"));
                    return;
                }
                Some(Ok(element)) => {
                    if !self.duplicates && seen.contains(&element) {
                        self.mismatch(format!("duplicate entries for key {element}"));
                    }
                    seen.insert(element.clone());
                    element
                }
            };
            self.below(&element, item, list.items);
        }
    }

    fn map(&mut self, fields: &Map<String, Value>, map: MapRule<'_>) {
        for (name, value) in fields {
            let element = PathElement::field(name);
            let Some(shape) = map.field(name) else {
                self.path += &element.to_string();
                self.mismatch("field not declared in schema".to_owned());
                self.path.truncate(self.path.len() - element.to_string().len());
                continue;
            };
            self.below(&element, value, shape);
        }
    }
}

/// Returns the identity of a list item. `None` if the list is atomic.
pub(super) fn item_element(item: &Value, list: ListRule<'_>) -> Option<Result<PathElement, String>> {
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
            Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(PathElement::Value(item.clone())),
        }),
        Relation::Keys(keys) => Some(keyed_element(item, list, keys)),
    }
}

fn keyed_element(
    item: &Value,
    list: ListRule<'_>,
    keys: &[std::sync::Arc<str>],
) -> Result<PathElement, String> {
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
    Ok(PathElement::key(found))
}

/// Returns the fields of an object: leaves, list items, and fields outside the schema.
/// Shape: the object fits its shape.
pub(super) fn fields_of(object: &Value, shape: Shape<'_>) -> FieldSet {
    fields_at(object, shape).children
}

fn fields_at(value: &Value, shape: Shape<'_>) -> FieldSetEntry {
    let leaf = || FieldSetEntry { is_member: true, children: FieldSet::default() };
    match shape.kind(shape.choice(Some(value))) {
        ShapeClass::Scalar(_) => leaf(),
        ShapeClass::List(list) if matches!(list.relation, Relation::Atomic) => leaf(),
        ShapeClass::Map(map) if map.atomic => leaf(),
        ShapeClass::List(list) => FieldSetEntry { is_member: false, children: fields_of_items(value, list) },
        ShapeClass::Map(map) => {
            let mut out = FieldSetEntry::default();
            for (name, value) in value.as_object().into_iter().flatten() {
                let mut entry = fields_at(value, map.field(name).unwrap_or(Shape::Untyped));
                let hollow = value.is_null() || value.as_object().is_some_and(Map::is_empty);
                entry.is_member |= hollow || !map.declares(name);
                out.children.set(PathElement::field(name), entry);
            }
            out
        }
    }
}

/// Items with equal keys have one owner, without their fields.
fn fields_of_items(value: &Value, list: ListRule<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for item in value.as_array().into_iter().flatten() {
        let Some(Ok(element)) = item_element(item, list) else { continue };
        let mut entry = FieldSetEntry { is_member: true, children: FieldSet::default() };
        if out.get(&element).is_none() {
            entry.children = fields_at(item, list.items).children;
        }
        out.set(element, entry);
    }
    out
}

/// Returns the object without these fields and items and their descendants. A value that loses all its content becomes
/// null, as on the real server.
pub(super) fn remove(value: &Value, fields: &FieldSet, shape: Shape<'_>) -> Value {
    match (shape.kind(shape.choice(Some(value))), value) {
        (ShapeClass::Scalar(_), _) => value.clone(),
        (ShapeClass::Map(map), Value::Object(object)) if !map.atomic => {
            let mut out = Map::new();
            for (name, value) in object {
                match fields.get(&PathElement::field(name)) {
                    Some(entry) if entry.is_member => {}
                    Some(entry) if !entry.children.is_empty() => {
                        let shape = map.field(name).unwrap_or(Shape::Untyped);
                        out.insert(name.clone(), remove(value, &entry.children, shape));
                    }
                    _ => {
                        out.insert(name.clone(), value.clone());
                    }
                }
            }
            if out.is_empty() { Value::Null } else { Value::Object(out) }
        }
        (ShapeClass::List(list), Value::Array(items)) if !matches!(list.relation, Relation::Atomic) => {
            let out: Vec<Value> = items
                .iter()
                .filter_map(|item| {
                    let entry = item_element(item, list).and_then(Result::ok).and_then(|e| fields.get(&e));
                    match entry {
                        Some(entry) if entry.is_member => None,
                        Some(entry) if !entry.children.is_empty() => {
                            Some(remove(item, &entry.children, list.items))
                        }
                        _ => Some(item.clone()),
                    }
                })
                .collect();
            if out.is_empty() { Value::Null } else { Value::Array(out) }
        }
        (ShapeClass::Map(_) | ShapeClass::List(_), _) => Value::Null,
    }
}

/// Adds the named fields on the way to each member: the owner of `spec.replicas` also holds `spec`.
pub(super) fn with_named_parents(set: &FieldSet, shape: Option<Shape<'_>>) -> FieldSet {
    let map = shape.and_then(Shape::as_map);
    let list = shape.and_then(Shape::as_list);
    let mut out = FieldSet::default();
    for (element, entry) in set.entries() {
        let (named, below) = match (element, &map, &list) {
            (PathElement::Field(name), Some(map), _) => {
                (!entry.children.is_empty() && map.declares(name), map.field(name))
            }
            (PathElement::Key(_), _, Some(list)) => (false, Some(list.items)),
            _ => (false, None),
        };
        let entry = FieldSetEntry {
            is_member: entry.is_member || named,
            children: with_named_parents(&entry.children, below),
        };
        out.set(element.clone(), entry);
    }
    out
}

/// Adapts the set to a schema change: a value that became atomic is owned as a whole.
pub(super) fn reconcile_schema(set: &FieldSet, shape: Shape<'_>) -> FieldSet {
    let mut out = FieldSet::default();
    for (element, entry) in set.entries() {
        let below = match (shape.kind(ClassChoice::Any), element) {
            (ShapeClass::Map(map), _) if map.is_deduced() => None,
            (ShapeClass::Map(map), PathElement::Field(name)) => map.field(name),
            (ShapeClass::Map(_) | ShapeClass::Scalar(_), _) => None,
            (ShapeClass::List(list), _) => Some(list.items),
        };
        let entry = below.map_or_else(|| entry.clone(), |shape| reconcile_entry(entry, shape));
        out.set(element.clone(), entry);
    }
    out
}

fn reconcile_entry(entry: &FieldSetEntry, shape: Shape<'_>) -> FieldSetEntry {
    let whole = entry.is_member && entry.children.is_empty();
    let became_whole = match shape.kind(ClassChoice::Any) {
        ShapeClass::Scalar(_) => return entry.clone(),
        ShapeClass::List(list) => matches!(list.relation, Relation::Atomic),
        ShapeClass::Map(map) => map.atomic && !map.is_deduced(),
    };
    if whole {
        entry.clone()
    } else if became_whole {
        FieldSetEntry { is_member: true, children: FieldSet::default() }
    } else {
        FieldSetEntry { is_member: entry.is_member, children: reconcile_schema(&entry.children, shape) }
    }
}
