//! References to other objects by name: once all names are final, the references are rewritten.
//!
//! ```text
//! objects with former names ─► Referents, by every former name
//!                             ▲ candidates of a name
//! each object ─► its fields that refer to others ─► the current names
//! ```
//! Source: kustomize v5.8.1 api/filters/nameref, api/resmap (SubsetThatCouldBeReferencedByResource).

mod referents;

use std::collections::HashMap;
use std::sync::Arc;

use manifest::{Value, provenance::FieldOrigin};

use crate::accumulator::Accumulator;
use crate::fields::{FieldPath, FieldTables, KindPattern};
use crate::resource::Resource;
use crate::scope::Scope;
use crate::{Gvk, ResId};

use referents::{ReferenceQuery, Referent, Referents, Referrer, RewriteTarget};

/// A reference that cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReferenceError {
    #[error(
        "`{path}` of `{id}` refers to `{name}`, the name of several objects: {}; rename all but one",
        list(found)
    )]
    Several { id: Box<ResId>, path: String, name: String, found: Vec<ResId> },
    #[error("`{path}` of `{id}` refers to a mapping without `name`")]
    Nameless { id: Box<ResId>, path: String },
    #[error("`namespace` of a service account in `subjects` of `{id}` must be a string")]
    SubjectNamespace { id: Box<ResId> },
}

impl ReferenceError {
    fn subject_namespace(resource: &Resource) -> Self {
        Self::SubjectNamespace { id: Box::new(resource.id().clone()) }
    }
}

/// Rewrites the fields of [`FieldTables::name_references`] to the current names of objects.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    scope.report_all("", rewrite_references(objects));
}

/// Rewrites all references. Returns the problems; such references stay unchanged.
fn rewrite_references(objects: &mut Accumulator) -> Vec<ReferenceError> {
    let referents = Referents::of(objects);
    let tables = objects.tables.clone();
    let mut problems = Vec::new();
    if referents.is_empty() {
        return unreadable_subjects(objects, &tables);
    }
    let mut fields_of: HashMap<Gvk, Vec<KindReference<'_>>> = HashMap::new();
    objects.edit_all(|resource| {
        let original = &resource.original_id().gvk;
        if !fields_of.contains_key(original) {
            fields_of.insert(original.clone(), reference_fields(original, &tables));
        }
        let fields = fields_of.get(original).map(Vec::as_slice).unwrap_or_default();
        rewrite_object(resource, fields, &referents, &mut problems);
    });
    problems
}

/// Returns the problems of objects with references, if no reference needs a rewrite.
fn unreadable_subjects(objects: &Accumulator, tables: &FieldTables) -> Vec<ReferenceError> {
    let resources = objects.iter().map(|(_, resource)| resource);
    let unreadable = resources.filter(|resource| {
        resource.object.kind() == "RoleBinding"
            && Referrer::of(resource).is_none()
            && !reference_fields(&resource.original_id().gvk, tables).is_empty()
    });
    unreadable.map(ReferenceError::subject_namespace).collect()
}

/// A kind of objects, and a field that refers to them.
type KindReference<'a> = (&'a KindPattern, &'a FieldPath);

/// Returns the fields of a kind, in the order of their rewrites.
fn reference_fields<'a>(gvk: &Gvk, tables: &'a FieldTables) -> Vec<KindReference<'a>> {
    let tables = tables.name_references.iter();
    tables.flat_map(|table| table.fields.for_kind(gvk).map(|spec| (&table.referent, &spec.path))).collect()
}

/// Rewrites the references of one object. A field that may refer to several kinds is rewritten by each in turn.
fn rewrite_object(
    resource: &mut Resource,
    fields: &[KindReference<'_>],
    referents: &Referents,
    problems: &mut Vec<ReferenceError>,
) {
    if fields.is_empty() {
        return;
    }
    let Some(referrer) = Referrer::of(resource) else {
        problems.push(ReferenceError::subject_namespace(resource));
        return;
    };
    for &(kind, path) in fields {
        let role = role_of(resource, path);
        let mut field = ReferenceField { referents, referrer: &referrer, kind, role, path, problems };
        let mut rewritten = Vec::new();
        path.visit(resource.object.as_map(), &mut |value| rewritten.push(field.rewrite(value)));
        if rewritten.iter().any(Option::is_some) {
            let mut rewritten = rewritten.into_iter();
            path.edit(resource.object.as_map_mut(), false, &mut |value| {
                if let Some(Some(new)) = rewritten.next() {
                    *value = new;
                }
            });
            if resource.object.provenance().is_some() {
                let field = format!("name of the {}", kind.kind);
                resource.object.record_provenance(&Arc::new(FieldOrigin { field, ..FieldOrigin::default() }));
            }
        }
    }
}

/// Returns the group and kind of a role reference, if the path is its name and both exist.
fn role_of(resource: &Resource, path: &FieldPath) -> Option<KindPattern> {
    if !path.ends_in(&["roleRef", "name"]) {
        return None;
    }
    let text = |field: &str| resource.object.get(&["roleRef", field]).and_then(Value::as_str);
    let (group, kind) = (text("apiGroup")?, text("kind")?);
    Some(KindPattern { group: group.into(), version: "".into(), kind: kind.into() })
}

/// A field of one object that refers to objects of a kind.
struct ReferenceField<'a> {
    referents: &'a Referents,
    referrer: &'a Referrer,
    kind: &'a KindPattern,
    role: Option<KindPattern>,
    path: &'a FieldPath,
    problems: &'a mut Vec<ReferenceError>,
}

impl ReferenceField<'_> {
    /// Returns the new value of the field; `None` if the value stays.
    fn rewrite(&mut self, value: &Value) -> Option<Value> {
        match value {
            Value::Array(items) => {
                let rewritten: Vec<Option<Value>> = items.iter().map(|item| self.rewrite_one(item)).collect();
                rewritten.iter().any(Option::is_some).then(|| {
                    let both = rewritten.into_iter().zip(items);
                    both.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect()
                })
            }
            one => self.rewrite_one(one),
        }
    }

    fn rewrite_one(&mut self, value: &Value) -> Option<Value> {
        match value {
            Value::String(name) => {
                let referent = self.find(name, RewriteTarget::Name)?;
                (*referent.id.name != **name).then(|| Value::from(&*referent.id.name))
            }
            Value::Object(_) => self.rewrite_mapping(value),
            _ => None,
        }
    }

    /// Rewrites a mapping with a `name` and a `namespace` to those of the referenced object.
    fn rewrite_mapping(&mut self, value: &Value) -> Option<Value> {
        let Some(name) = value.get("name") else {
            let (id, path) = (Box::new(self.referrer.id.clone()), self.path.to_string());
            self.problems.push(ReferenceError::Nameless { id, path });
            return None;
        };
        let name = name.as_str()?;
        let target = match value.get("namespace") {
            None => RewriteTarget::Anywhere,
            Some(namespace) => RewriteTarget::In(namespace.as_str().unwrap_or_default()),
        };
        let referent = self.find(name, target)?;
        let namespace = referent.id.written_namespace();
        let mut new = value.clone();
        new["name"] = Value::from(&*referent.id.name);
        if !namespace.is_empty() {
            new["namespace"] = namespace.into();
        }
        (new != *value).then_some(new)
    }

    fn find(&mut self, name: &str, target: RewriteTarget<'_>) -> Option<&Referent> {
        let question = ReferenceQuery { name, kind: self.kind, role: self.role.as_ref(), target };
        self.referents.find(&question, self.referrer).unwrap_or_else(|found| {
            self.problems.push(ReferenceError::Several {
                id: Box::new(self.referrer.id.clone()),
                path: self.path.to_string(),
                name: name.to_owned(),
                found: found.into_iter().map(|referent| referent.id.clone()).collect(),
            });
            None
        })
    }
}

fn list(ids: &[ResId]) -> String {
    let names: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests;
