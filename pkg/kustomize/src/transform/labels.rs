//! `labels`, `commonLabels` and `commonAnnotations`: pairs of keys and values in the mappings a field table leads to.

use std::collections::BTreeMap;

use manifest::{Map, Value, type_name};

use crate::accumulator::Accumulator;
use crate::fields::{FieldProblem, FieldSpec, FieldTable, FieldTables};
use crate::kustomization::entries::{FieldSpecEntry, Label};
use crate::scope::Scope;

/// Sets the entries of `labels`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    for (index, label) in scope.kustomization.labels.iter().enumerate() {
        let (fields, mut problems) = fields_of(label, &tables);
        problems.extend(set(&label.pairs, &fields, objects));
        let place = format!("labels[{index}]");
        scope.problems(&place, problems);
        scope.account(&place, objects);
    }
}

/// Sets `commonLabels`, selectors included.
pub(crate) fn run_common(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    let problems = set(&scope.kustomization.common_labels, &tables.common_labels, objects);
    scope.problems("commonLabels", problems);
}

/// Sets `commonAnnotations`, on objects and on the pods they make.
pub(crate) fn run_annotations(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    let problems = set(&scope.kustomization.common_annotations, &tables.common_annotations, objects);
    scope.problems("commonAnnotations", problems);
}

/// The fields an entry writes: its own, those configured for `labels`, and those it includes.
///
/// A spec of its own takes the place of one that includes its kinds: with one for the labels of Deployments, nothing else is
/// labelled.
/// Source: kustomize v5.8.1 api/internal/target (LabelTransformer).
fn fields_of(label: &Label, tables: &FieldTables) -> (FieldTable, Vec<FieldProblem>) {
    let mut fields = FieldTable::default();
    let mut problems = fields.add_all(label.fields.iter().cloned().map(FieldSpec::from));
    problems.extend(fields.merge(&tables.labels));
    if label.include_selectors {
        problems.extend(fields.merge(&tables.common_labels));
        return (fields, problems);
    }
    if label.include_templates {
        problems.extend(fields.merge(&tables.template_labels));
    }
    let own =
        FieldSpecEntry { path: "metadata/labels".to_owned(), create: true, ..FieldSpecEntry::default() };
    problems.extend(fields.add_all([own.into()]));
    (fields, problems)
}

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
