//! `labels` and `commonLabels`.

use crate::accumulator::Accumulator;
use crate::build::Scope;
use crate::fields::{FieldProblem, FieldSpec, FieldTable, FieldTables};
use crate::kustomization::entries::{FieldSpecEntry, Label};

use super::pairs;

/// Sets the entries of `labels`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    for (index, label) in scope.kustomization.labels.iter().enumerate() {
        let (fields, mut problems) = fields_of(label, &tables);
        problems.extend(pairs::set(&label.pairs, &fields, objects));
        let place = format!("labels[{index}]");
        for problem in problems {
            scope.problem(&place, problem);
        }
        scope.account(&place, objects);
    }
}

/// Sets `commonLabels`, selectors included.
pub(crate) fn run_common(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    for problem in pairs::set(&scope.kustomization.common_labels, &tables.common_labels, objects) {
        scope.problem("commonLabels", problem);
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::build::testing::built;

    #[test]
    fn labels_without_selectors_leave_the_selectors_of_a_base_alone() {
        let service = built(&[
            ("/kustomization.yaml", "resources: [base]\nlabels: [{pairs: {team: a}}]"),
            (
                "/base/kustomization.yaml",
                "resources: [s.yaml]\nlabels: [{pairs: {team: b}, includeSelectors: true}]",
            ),
            (
                "/base/s.yaml",
                "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: x}}}",
            ),
        ]);
        assert_eq!(service["metadata"]["labels"], json!({"team": "a"}));
        assert_eq!(service["spec"]["selector"], json!({"app": "x", "team": "b"}));
    }
}
