//! Labels and annotations alike: pairs of keys and values in the mappings a field table leads to.

use std::collections::BTreeMap;

use manifest::{Map, Value, type_name};

use crate::accumulator::Accumulator;
use crate::fields::{FieldProblem, FieldTable};

/// Sets pairs in every field of a table; gives the fields that are no mappings, which stay as they are.
///
/// A null is taken for an empty mapping where the field may be created, and is left alone elsewhere.
/// Source: kustomize v5.8.1 LabelTransformer and AnnotationsTransformer; differs: a path that is blocked by a scalar on its way
/// is passed over.
pub(crate) fn set(
    pairs: &BTreeMap<String, String>,
    fields: &FieldTable,
    objects: &mut Accumulator,
) -> Vec<FieldProblem> {
    let mut problems = Vec::new();
    if pairs.is_empty() {
        return problems;
    }
    objects.edit_all(|resource| {
        let specs: Vec<_> = fields.of(&resource.object).collect();
        for spec in specs {
            let mut wrong = None;
            spec.edit(&mut resource.object, |value| {
                if !set_in(value, pairs, spec.create) {
                    wrong = Some(type_name(value));
                }
            });
            problems.extend(wrong.map(|found| FieldProblem::WrongType {
                id: Box::new(resource.id().clone()),
                path: spec.path.to_string(),
                expected: "a mapping",
                found,
            }));
        }
    });
    problems
}

/// Tells whether the value is such that pairs can be set.
fn set_in(value: &mut Value, pairs: &BTreeMap<String, String>, create: bool) -> bool {
    if value.is_null() {
        if !create {
            return true;
        }
        *value = Value::Object(Map::new());
    }
    let Value::Object(fields) = value else { return false };
    for (key, text) in pairs {
        fields.insert(key.clone(), text.as_str().into());
    }
    true
}

#[cfg(test)]
mod tests;
