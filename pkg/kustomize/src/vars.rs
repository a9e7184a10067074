//! `vars`: values for `$(NAME)` in texts.
//!
//! ```text
//! each target: gather ─► marks the object with the name of the variable; renames and merges keep the mark
//! once, at the top: run ─► value of each variable ─► texts in the fields of the table
//! ```
//! Source: kustomize v5.8.1 api/internal/accumulator (MergeVars, ResolveVars), api/filters/refvar, as observed.

mod expand;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manifest::{Object, Value, provenance::FieldOrigin};

use crate::accumulator::{Accumulator, Variable};
use crate::fields::{FieldSpec, FieldTable};
use crate::kustomization::entries::{Var, VarObject};
use crate::resource::Resource;
use crate::scope::Scope;
use crate::transform::replacements::ValuePath;
use crate::{Gvk, ResId};

use expand::VariableValues;

/// The default field of a variable.
const DEFAULT_FIELD: &str = "metadata.name";

/// An invalid variable. The variants `NotAScalar` and `Unused` are warnings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VarError {
    #[error("`{id}` matches {}: add `namespace` to `objref`", candidates.join(" and "))]
    Ambiguous { id: Box<ResId>, candidates: Vec<String> },
    #[error("cannot read variable `{name}`: no object `{id}`")]
    NoObject { name: String, id: Box<ResId> },
    #[error("cannot read variable `{name}` from `{field}` of `{id}`: {reason}")]
    NoField { name: String, field: String, id: Box<ResId>, reason: String },
    #[error("the variable `{name}` is {found} and is not substituted: text can contain only single values")]
    NotAScalar { name: String, found: &'static str },
    #[error("the variable `{0}` is unused")]
    Unused(String),
}

/// Collects the variables of one kustomization.
pub(crate) fn collect(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let vars = &scope.kustomization.vars;
    if vars.is_empty() {
        return;
    }
    for (index, var) in vars.iter().enumerate() {
        let field = format!("vars[{index}]");
        let wanted = id_of(&var.object);
        let mut found = objects.find_by_any_name(&wanted.name);
        found.retain(|position| {
            objects.get(*position).is_some_and(|resource| resource.ids().any(|id| matches_id(&wanted, id)))
        });
        let name: Arc<str> = var.name.as_str().into();
        match found.as_slice() {
            // A target further up may add the object; the top reports a missing object.
            [] => {}
            [position] => {
                objects.edit(*position, |resource| resource.variables.push(Arc::clone(&name)));
            }
            several => {
                let names = several.iter().filter_map(|position| objects.get(*position));
                let candidates = names.map(|resource| format!("`{}`", resource.id())).collect();
                scope.report(&field, VarError::Ambiguous { id: Box::new(wanted), candidates });
                continue;
            }
        }
        let variable =
            Variable { object: wanted, field: field_of(var).into(), location: scope.root.location(&field) };
        scope.ok(&field, objects.add_variable(name, variable));
    }
}

fn field_of(var: &Var) -> &str {
    if var.field.path.is_empty() { DEFAULT_FIELD } else { &var.field.path }
}

fn id_of(object: &VarObject) -> ResId {
    let VarObject { api_version, group, version, kind, name, namespace } = object;
    let (group, version) = match api_version.split_once('/') {
        Some(parts) => parts,
        None if api_version.is_empty() => (group.as_str(), version.as_str()),
        None => (group.as_str(), api_version.as_str()),
    };
    let gvk = Gvk { group: group.into(), version: version.into(), kind: kind.as_str().into() };
    ResId::new(gvk, name, namespace)
}

/// True if an id is the wanted one; a wanted id without namespace matches any namespace.
fn matches_id(wanted: &ResId, id: &ResId) -> bool {
    let is_named = wanted.name == id.name && wanted.gvk == id.gvk;
    is_named && (wanted.written_namespace().is_empty() || wanted == id)
}

/// Writes the values of all variables into the texts.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let variables = std::mem::take(&mut objects.variables);
    if variables.is_empty() {
        return;
    }
    let mut marked: BTreeMap<&str, &Resource> = BTreeMap::new();
    for (_, resource) in objects.iter() {
        for name in &resource.variables {
            marked.entry(name).or_insert(resource);
        }
    }
    let mut values = VariableValues::default();
    for (name, variable) in &variables {
        match value_of(name, variable, marked.get(&**name).copied()) {
            Ok(value) => values.add(name, value),
            Err(VarError::NoObject { .. }) if objects.is_partial => {}
            Err(problem) => scope.report_at(variable.location.clone(), problem),
        }
    }
    let tables = objects.tables.clone();
    replace(&mut values, &tables.var_references, objects);
    for (name, variable) in &variables {
        if let Some(found) = values.refused(name) {
            let name = name.to_string();
            scope.warn_at(variable.location.clone(), VarError::NotAScalar { name, found });
        } else if values.is_unused(name) {
            scope.warn_at(variable.location.clone(), VarError::Unused(name.to_string()));
        }
    }
}

fn value_of(name: &str, variable: &Variable, from: Option<&Resource>) -> Result<Value, VarError> {
    let name = || name.to_owned();
    let Some(resource) = from else {
        return Err(VarError::NoObject { name: name(), id: Box::new(variable.object.clone()) });
    };
    let path = ValuePath::parse(&with_steps(&variable.field)).map_err(|problem| problem.to_string());
    let fields = resource.object.as_map();
    let found = path.and_then(|path| path.lookup(fields).cloned().map_err(|fault| fault.to_string()));
    found.map_err(|reason| {
        let (field, id) = (variable.field.to_string(), Box::new(resource.id().clone()));
        VarError::NoField { name: name(), field, id, reason }
    })
}

/// Writes each index of a path as a step: `ports[0].port` becomes `ports.0.port`.
fn with_steps(path: &str) -> String {
    let mut written = String::with_capacity(path.len());
    for (index, part) in path.split('[').enumerate() {
        let rest = part.split_once(']').filter(|(step, _)| step.parse::<usize>().is_ok());
        match rest {
            Some((step, rest)) if index > 0 && !written.is_empty() => {
                let dot = if written.ends_with('.') { "" } else { "." };
                written.extend([dot, step, rest]);
            }
            _ => written.extend([if index > 0 { "[" } else { "" }, part]),
        }
    }
    written
}

/// Expands the variables in the fields of a table: in texts, and in texts of lists and mappings.
fn replace(values: &mut VariableValues, fields: &FieldTable, objects: &mut Accumulator) {
    objects.edit_all(|resource| {
        let specs: Vec<_> = fields.for_object(&resource.object).collect();
        for spec in specs {
            let mut is_mentioned = false;
            spec.visit(&resource.object, |value| is_mentioned |= texts_of(value).any(expand::may_change));
            if is_mentioned {
                let setter = resource.object.provenance().map(|_| field_origin(spec, &resource.object));
                let object: &mut Object = &mut resource.object;
                spec.path.edit(object.as_map_mut(), false, &mut |value| expand_in(values, value));
                if let Some(setter) = setter {
                    object.record_provenance(&setter);
                }
            }
        }
    });
}

/// Returns the setter of a field: the variables that the field mentions.
fn field_origin(spec: &FieldSpec, object: &Object) -> Arc<FieldOrigin> {
    let mut names = BTreeSet::new();
    spec.visit(object, |value| {
        let mentioned = texts_of(value).flat_map(expand::names);
        names.extend(mentioned.map(|name| format!("$({name})")));
    });
    let names: Vec<String> = names.into_iter().collect();
    Arc::new(FieldOrigin { field: names.join(" "), ..FieldOrigin::default() })
}

fn texts_of(value: &Value) -> impl Iterator<Item = &str> {
    let in_list = value.as_array().into_iter().flatten();
    let in_map = value.as_object().into_iter().flat_map(|fields| fields.values());
    std::iter::once(value).chain(in_list).chain(in_map).filter_map(Value::as_str)
}

fn expand_in(values: &mut VariableValues, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| values.expand(item)),
        Value::Object(fields) => fields.values_mut().for_each(|item| values.expand(item)),
        single => values.expand(single),
    }
}

#[cfg(test)]
mod tests;
