//! Conversion of objects of the group `cluster.x-k8s.io` from v1beta1 to v1beta2, in files.
//!
//! ```text
//! objects ─► kind ─► tables (conversion rules by field) ─► walk ─► objects + notes
//!                                                              └──► all faults; nothing is converted
//! ```
//!
//! Values are moved as written, not decoded and encoded again, and nothing is added. Empty values (`""`, `[]`, `{}`)
//! that v1beta2 does not allow are omitted, as when the Go types are encoded.
//!
//! Source: the conversion webhooks of Cluster API v1.14 (core/webhooks/conversion, api/core/v1beta1/conversion.go).
//!
//! Differs from `clusterctl convert` v1.14.0, which:
//! - loses every reference, `minReadySeconds` and the readiness of `status`,
//! - adds `paused: false`,
//! - ignores items of lists,
//! - drops unknown fields silently.
//!
//! Differs from the webhooks: an explicit `false` or `0` is kept, and defaults of Go types are not added.
//!
//! Out of scope: v1beta2 to v1beta1, other groups (passed through unchanged), file access.

mod duration;
mod error;
mod field_converter;
mod restore;
mod shape;
mod tables;

#[cfg(test)]
mod tests;

use manifest::{Map, Object, ObjectRef, Value};

pub use error::{ConversionFault, ConversionNote, ConversionNoteKind, ConversionProblem, ConvertError};
use field_converter::FieldConverter;

const GROUP_VERSION: &str = "cluster.x-k8s.io/v1beta1";
const TARGET_GROUP_VERSION: &str = "cluster.x-k8s.io/v1beta2";

/// The result for one object, or for one item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionOutcome {
    /// The object was converted to v1beta2.
    Converted,
    /// The object has another group or version and is unchanged.
    PassedThrough,
}

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionResult {
    /// The objects, in the same number and order as the input.
    pub objects: Vec<Object>,
    /// One outcome per object, or per item of a list. An empty list counts as one object.
    pub outcomes: Vec<ConversionOutcome>,
    /// Messages about single fields, in the order of the objects.
    pub notes: Vec<ConversionNote>,
}

impl ConversionResult {
    /// Counts the objects and items with an outcome.
    pub fn count(&self, outcome: ConversionOutcome) -> usize {
        self.outcomes.iter().filter(|each| **each == outcome).count()
    }
}

/// Converts every object of `cluster.x-k8s.io/v1beta1` to v1beta2, including items of lists. Other objects are
/// unchanged.
///
/// # Errors
/// `ConvertError` with all faults of all objects. No object is converted in that case.
pub fn convert(objects: Vec<Object>) -> Result<ConversionResult, ConvertError> {
    let mut conversion = Conversion::default();
    let objects = objects.into_iter().map(|object| conversion.convert_document(object)).collect();
    if !conversion.faults.is_empty() {
        return Err(ConvertError { faults: conversion.faults });
    }
    Ok(ConversionResult { objects, outcomes: conversion.outcomes, notes: conversion.notes })
}

#[derive(Default)]
struct Conversion {
    outcomes: Vec<ConversionOutcome>,
    notes: Vec<ConversionNote>,
    faults: Vec<ConversionFault>,
}

impl Conversion {
    fn convert_document(&mut self, mut object: Object) -> Object {
        let of_group = object.api_version() == GROUP_VERSION;
        let listed =
            object.kind().strip_suffix("List").filter(|kind| of_group && tables::find(kind).is_some());
        let listed = listed.map(str::to_owned);
        if listed.is_some() || (object.kind() == "List" && object.api_version() == "v1") {
            if let Some(Value::Array(items)) = object.get_mut(&["items"])
                && !items.is_empty()
            {
                for (index, item) in items.iter_mut().enumerate() {
                    *item = self.convert_item(index, std::mem::take(item), listed.as_deref());
                }
            } else {
                self.outcomes.push(if of_group {
                    ConversionOutcome::Converted
                } else {
                    ConversionOutcome::PassedThrough
                });
            }
            if of_group {
                object.as_map_mut().insert("apiVersion".to_owned(), TARGET_GROUP_VERSION.into());
            }
            return object;
        }
        if of_group {
            let kind = object.kind().to_owned();
            return self.convert_object(object, &kind);
        }
        self.outcomes.push(ConversionOutcome::PassedThrough);
        object
    }

    /// Converts an item of a list. In a list of one kind, the kind of an item is optional.
    fn convert_item(&mut self, index: usize, item: Value, listed: Option<&str>) -> Value {
        match Object::try_from(item) {
            Ok(object) => {
                let named = !object.api_version().is_empty() || !object.kind().is_empty();
                let converted = match listed {
                    Some(kind) if !named => self.convert_object(object, kind),
                    _ if object.api_version() == GROUP_VERSION => {
                        let kind = object.kind().to_owned();
                        self.convert_object(object, &kind)
                    }
                    _ => {
                        self.outcomes.push(ConversionOutcome::PassedThrough);
                        object
                    }
                };
                converted.into_value()
            }
            Err(not_an_object) => {
                self.faults.push(ConversionFault {
                    object: ObjectRef {
                        kind: "List".to_owned(),
                        namespace: String::new(),
                        name: String::new(),
                    },
                    path: format!("items[{index}]"),
                    problem: ConversionProblem::WrongType {
                        expected: "a mapping",
                        found: not_an_object.found,
                    },
                });
                Value::Null
            }
        }
    }

    fn convert_object(&mut self, object: Object, kind: &str) -> Object {
        self.outcomes.push(ConversionOutcome::Converted);
        let about = ObjectRef { kind: kind.to_owned(), ..ObjectRef::of(&object) };
        let Some(table) = tables::find(kind) else {
            let problem =
                ConversionProblem::UnknownKind { known: tables::kinds().map(str::to_owned).collect() };
            self.faults.push(ConversionFault { object: about, path: "kind".to_owned(), problem });
            return object;
        };
        let Value::Object(mut fields) = object.into_value() else { return Object::default() };
        let stored = restore::take_annotation(&mut fields);
        let mut walk = FieldConverter::new(&about);
        let mut converted = Map::new();
        walk.fields(fields, table, &mut converted);
        if converted.contains_key("apiVersion") {
            converted.insert("apiVersion".to_owned(), TARGET_GROUP_VERSION.into());
        }
        if let Some(stored) = stored {
            restore::restore_fields(&stored, kind, &mut converted, &mut walk);
        }
        let (notes, faults) = walk.finish();
        self.notes.extend(notes);
        self.faults.extend(faults);
        Object::from_map(converted)
    }
}
