//! `namespace`: moves objects into one namespace.

use manifest::{Object, Value, type_name};

use crate::ResId;
use crate::accumulator::Accumulator;
use crate::fields::{FieldError, FieldSpec, FieldTable};
use crate::helm;
use crate::report::StepError;
use crate::schema::Schema;
use crate::scope::Scope;

/// The settings of a move into a namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamespaceSettings<'a> {
    /// The target namespace; if empty, nothing moves.
    pub(crate) namespace: &'a str,
    /// Further fields that hold the namespace, in addition to `metadata.namespace`.
    pub(crate) fields: &'a FieldTable,
    pub(crate) overwrite: NamespaceOverwrite,
    pub(crate) subjects: SubjectSelection,
    /// Declares cluster-scoped kinds, in addition to the built-in ones.
    pub(crate) schema: &'a Schema,
}

/// The namespaces to overwrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NamespaceOverwrite {
    /// All namespaces.
    #[default]
    All,
    /// Missing and empty namespaces only.
    Unset,
}

/// The subjects of role bindings to move. Other subjects follow the service accounts they name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SubjectSelection {
    /// Subjects named `default`.
    #[default]
    DefaultOnly,
    /// Subjects that are service accounts.
    AllServiceAccounts,
    None,
}

/// Two objects with the same id after the move.
#[derive(Debug, thiserror::Error)]
#[error("duplicate object `{id}` in one namespace: from {first} and from {second}")]
struct NamespaceConflict {
    id: Box<ResId>,
    first: String,
    second: String,
}

/// Moves all namespaced objects into one namespace, and renames Namespaces.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    let settings = NamespaceSettings {
        namespace: &scope.kustomization.namespace,
        fields: &tables.namespace,
        overwrite: NamespaceOverwrite::default(),
        subjects: SubjectSelection::default(),
        schema: &scope.session.schema,
    };
    let problems = apply(&settings, objects);
    scope.report_all("namespace", problems);
}

/// Moves objects into a namespace. Returns the problems.
/// Source: kustomize v5.8.1 NamespaceTransformer; differs: every conflict is reported.
pub(crate) fn apply(settings: &NamespaceSettings<'_>, objects: &mut Accumulator) -> Vec<StepError> {
    if settings.namespace.is_empty() {
        return Vec::new();
    }
    let mut problems: Vec<StepError> = Vec::new();
    objects.edit_all(|resource| {
        if resource.object.annotation(helm::HELM_GENERATED) == Some("true") {
            return;
        }
        // References match the former ids of an object, so the current id must be one of them even if it stays.
        resource.record_id();
        let is_cluster_scoped =
            resource.id().gvk.is_cluster_scoped() || settings.schema.is_cluster_scoped(&resource.object);
        let found = settings.write(&mut resource.object, is_cluster_scoped);
        let at = |(path, found)| FieldError::WrongType {
            id: Box::new(resource.id().clone()),
            path,
            expected: "a namespace",
            found,
        };
        problems.extend(found.into_iter().map(|wrong| at(wrong).into()));
    });
    problems.extend(find_conflicts(objects).into_iter().map(Into::into));
    problems
}

impl NamespaceSettings<'_> {
    /// Writes the namespace into one object. Returns the fields with a list or mapping as value, each with its type.
    fn write(&self, object: &mut Object, is_cluster_scoped: bool) -> Vec<(String, &'static str)> {
        let mut wrong = Vec::new();
        let is_set = |present: &str| self.overwrite == NamespaceOverwrite::Unset && !present.is_empty();
        let present = object.namespace();
        if !is_cluster_scoped && present != self.namespace && !is_set(present) {
            object.set_namespace(self.namespace);
        }
        if is_role_binding(object.kind()) {
            self.write_subjects(object);
        }
        let specs: Vec<_> =
            self.fields.for_object(object).filter(|spec| is_applicable(spec, object)).collect();
        for spec in specs {
            spec.edit(object, |value| match value {
                Value::Array(_) | Value::Object(_) => wrong.push((spec.path.to_string(), type_name(value))),
                Value::String(present) if is_set(present) => {}
                value => *value = self.namespace.into(),
            });
        }
        wrong
    }

    fn write_subjects(&self, object: &mut Object) {
        let is_meant = |subject: &Value| {
            let is = |field: &str, text: &str| subject.get(field).and_then(Value::as_str) == Some(text);
            let is_set =
                || subject.get("namespace").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
            let is_kind = match self.subjects {
                SubjectSelection::DefaultOnly => is("name", "default"),
                SubjectSelection::AllServiceAccounts => is("kind", "ServiceAccount"),
                SubjectSelection::None => false,
            };
            is_kind && !(self.overwrite == NamespaceOverwrite::Unset && is_set())
        };
        let subjects = object.get(&["subjects"]).and_then(Value::as_array);
        if !subjects.is_some_and(|subjects| subjects.iter().any(is_meant)) {
            return;
        }
        let subjects = object.get_mut(&["subjects"]).and_then(Value::as_array_mut).into_iter().flatten();
        for subject in subjects.filter(|subject| is_meant(subject)) {
            subject["namespace"] = self.namespace.into();
        }
    }
}

/// True if a spec of the table applies. The namespace and subjects have rules of their own, and only Namespaces of the
/// core group are renamed.
fn is_applicable(spec: &FieldSpec, object: &Object) -> bool {
    let path = &spec.path;
    let is_ruled = path.equals(&["metadata", "namespace"])
        || (path.equals(&["metadata", "name"]) && object.api_version() != "v1")
        || (path.equals(&["subjects", "namespace"]) && is_role_binding(&spec.kind.kind));
    !is_ruled
}

fn is_role_binding(kind: &str) -> bool {
    matches!(kind, "RoleBinding" | "ClusterRoleBinding")
}

/// Finds the objects with the id of an earlier object.
fn find_conflicts(objects: &Accumulator) -> Vec<NamespaceConflict> {
    let mut problems = Vec::new();
    for (position, resource) in objects.iter() {
        let id = resource.id();
        let first = objects.find_by_id(id).filter(|first| *first != position);
        if let Some(first) = first.and_then(|first| objects.get(first)) {
            let (first, second) = (first.origin.to_string(), resource.origin.to_string());
            problems.push(NamespaceConflict { id: Box::new(id.clone()), first, second });
        }
    }
    problems
}

#[cfg(test)]
mod tests;
