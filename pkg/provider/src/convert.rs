//! Conversion of objects of the group `cluster.x-k8s.io` from v1beta1 to v1beta2, in files.
//!
//! ```text
//! objects ─► kind ─► tables (what becomes of each field) ─► walk ─► objects + notes
//!                                                              └──► faults: all of them, and nothing is converted
//! ```
//!
//! Values are moved, not decoded and encoded again: what the text says stays as it says it, and nothing is added. What is
//! empty and must not be there in v1beta2 (`""`, `[]`, `{}`) is left out, as it is when the Go types are encoded.
//!
//! Source: what the conversion webhooks of Cluster API v1.14 do (core/webhooks/conversion, api/core/v1beta1/conversion.go).
//! Differs from `clusterctl convert` v1.14.0, which loses every reference, `minReadySeconds` and the readiness of `status`,
//! adds `paused: false`, does not look into lists, and drops unknown fields without a word. Differs from the webhooks: an
//! explicit `false` or `0` stays, and defaults of Go types do not appear.
//!
//! Absent on purpose: v1beta2 to v1beta1, other groups (they pass through), files.

mod duration;
mod error;
mod restore;
mod shape;
mod tables;
mod walk;

#[cfg(test)]
mod tests;

use manifest::{Map, Object, ObjectRef, Value};

pub use error::{ConvertError, Fault, Note, NoteKind, Problem};
use walk::Walk;

const GROUP_VERSION: &str = "cluster.x-k8s.io/v1beta1";
const TARGET_GROUP_VERSION: &str = "cluster.x-k8s.io/v1beta2";

/// What became of one object, or of one item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is now of v1beta2.
    Converted,
    /// It is of another group or version, and stays as it was.
    PassedThrough,
}

/// Objects after conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// As many as were given, in the same order.
    pub objects: Vec<Object>,
    /// One for each object, with the items of a list in its place; an empty list counts as one object.
    pub outcomes: Vec<Outcome>,
    /// What has to be said about single fields, in the order of the objects.
    pub notes: Vec<Note>,
}

impl Converted {
    /// Counts the objects and items with an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.iter().filter(|each| **each == outcome).count()
    }
}

/// Converts every object of `cluster.x-k8s.io/v1beta1` to v1beta2, the items of lists too; everything else passes through.
///
/// # Errors
/// `ConvertError` with everything that cannot be converted; then no object is.
pub fn convert(objects: Vec<Object>) -> Result<Converted, ConvertError> {
    let mut conversion = Conversion::default();
    let objects = objects.into_iter().map(|object| conversion.document(object)).collect();
    if !conversion.faults.is_empty() {
        return Err(ConvertError { faults: conversion.faults });
    }
    Ok(Converted { objects, outcomes: conversion.outcomes, notes: conversion.notes })
}

#[derive(Default)]
struct Conversion {
    outcomes: Vec<Outcome>,
    notes: Vec<Note>,
    faults: Vec<Fault>,
}

impl Conversion {
    fn document(&mut self, mut object: Object) -> Object {
        let of_group = object.api_version() == GROUP_VERSION;
        let listed = object.kind().strip_suffix("List").filter(|kind| of_group && tables::of(kind).is_some());
        let listed = listed.map(str::to_owned);
        if listed.is_some() || (object.kind() == "List" && object.api_version() == "v1") {
            if let Some(Value::Array(items)) = object.get_mut(&["items"])
                && !items.is_empty()
            {
                for (index, item) in items.iter_mut().enumerate() {
                    *item = self.item(index, std::mem::take(item), listed.as_deref());
                }
            } else {
                self.outcomes.push(if of_group { Outcome::Converted } else { Outcome::PassedThrough });
            }
            if of_group {
                object.as_map_mut().insert("apiVersion".to_owned(), TARGET_GROUP_VERSION.into());
            }
            return object;
        }
        if of_group {
            let kind = object.kind().to_owned();
            return self.object(object, &kind);
        }
        self.outcomes.push(Outcome::PassedThrough);
        object
    }

    /// Converts an item of a list; in a list of one kind, items need not name it.
    fn item(&mut self, index: usize, item: Value, listed: Option<&str>) -> Value {
        match Object::try_from(item) {
            Ok(object) => {
                let named = !object.api_version().is_empty() || !object.kind().is_empty();
                let converted = match listed {
                    Some(kind) if !named => self.object(object, kind),
                    _ if object.api_version() == GROUP_VERSION => {
                        let kind = object.kind().to_owned();
                        self.object(object, &kind)
                    }
                    _ => {
                        self.outcomes.push(Outcome::PassedThrough);
                        object
                    }
                };
                converted.into_value()
            }
            Err(not_an_object) => {
                self.faults.push(Fault {
                    object: ObjectRef {
                        kind: "List".to_owned(),
                        namespace: String::new(),
                        name: String::new(),
                    },
                    path: format!("items[{index}]"),
                    problem: Problem::WrongType { expected: "a mapping", found: not_an_object.found },
                });
                Value::Null
            }
        }
    }

    fn object(&mut self, object: Object, kind: &str) -> Object {
        self.outcomes.push(Outcome::Converted);
        let about = ObjectRef { kind: kind.to_owned(), ..ObjectRef::of(&object) };
        let Some(table) = tables::of(kind) else {
            let problem = Problem::UnknownKind { known: tables::kinds().map(str::to_owned).collect() };
            self.faults.push(Fault { object: about, path: "kind".to_owned(), problem });
            return object;
        };
        let Value::Object(mut fields) = object.into_value() else { return Object::default() };
        let stored = restore::take_annotation(&mut fields);
        let mut walk = Walk::new(&about);
        let mut converted = Map::new();
        walk.fields(fields, table, &mut converted);
        if converted.contains_key("apiVersion") {
            converted.insert("apiVersion".to_owned(), TARGET_GROUP_VERSION.into());
        }
        if let Some(stored) = stored {
            restore::apply(&stored, kind, &mut converted, &mut walk);
        }
        let (notes, faults) = walk.finish();
        self.notes.extend(notes);
        self.faults.extend(faults);
        Object::from_map(converted)
    }
}
