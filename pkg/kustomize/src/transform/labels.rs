//! `labels`, `commonLabels` and `commonAnnotations`: key-value pairs in the mappings of a field table.

use std::collections::BTreeMap;

use manifest::{Map, Value, type_name};

use crate::accumulator::Accumulator;
use crate::fields::{FieldError, FieldSpec, FieldTable, FieldTables};
use crate::kustomization::entries::{FieldSpecEntry, Label};
use crate::scope::Scope;

/// Sets the entries of `labels`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    for (index, label) in scope.kustomization.labels.iter().enumerate() {
        let (fields, mut problems) = fields_of(label, &tables);
        problems.extend(set(&label.pairs, &fields, objects));
        let place = format!("labels[{index}]");
        scope.report_all(&place, problems);
        scope.record_provenance(&place, objects);
    }
}

/// Sets `commonLabels`, selectors included.
pub(crate) fn run_common(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    let problems = set(&scope.kustomization.common_labels, &tables.common_labels, objects);
    scope.report_all("commonLabels", problems);
}

/// Sets `commonAnnotations` on objects and on their pod templates.
pub(crate) fn run_annotations(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    let problems = set(&scope.kustomization.common_annotations, &tables.common_annotations, objects);
    scope.report_all("commonAnnotations", problems);
}

/// Returns the fields of an entry: its own, those configured for `labels`, and those it includes.
///
/// An own spec replaces an included spec that covers its kinds: with a spec for the labels of Deployments, no other
/// kind is labelled.
/// Source: kustomize v5.8.1 api/internal/target (LabelTransformer).
fn fields_of(label: &Label, tables: &FieldTables) -> (FieldTable, Vec<FieldError>) {
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

/// Sets pairs in every field of a table. Returns the fields that are no mappings, which stay unchanged.
///
/// A null counts as an empty mapping if the field may be created; otherwise null stays.
/// Source: kustomize v5.8.1 LabelTransformer and AnnotationsTransformer; differs: a path blocked by a scalar is
/// skipped.
pub(crate) fn set(
    pairs: &BTreeMap<String, String>,
    fields: &FieldTable,
    objects: &mut Accumulator,
) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if pairs.is_empty() {
        return problems;
    }
    objects.edit_all(|resource| {
        let specs: Vec<_> = fields.for_object(&resource.object).collect();
        for spec in specs {
            let mut wrong = None;
            spec.edit(&mut resource.object, |value| {
                if !set_in(value, pairs, spec.create) {
                    wrong = Some(type_name(value));
                }
            });
            problems.extend(wrong.map(|found| FieldError::WrongType {
                id: Box::new(resource.id().clone()),
                path: spec.path.to_string(),
                expected: "a mapping",
                found,
            }));
        }
    });
    problems
}

/// Sets pairs in one value. Returns false if the value cannot hold pairs.
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
