//! `vars`: values that stand in texts as `$(NAME)`.
//!
//! ```text
//! each target: gather ─► the object is marked with the name of the variable, and carries it through renames and merges
//! once, at the top: run ─► value of each variable ─► texts in the fields of the table
//! ```
//! Source: kustomize v5.8.1 api/internal/accumulator (MergeVars, ResolveVars), api/filters/refvar, as observed.

mod expand;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manifest::{Object, Value, provenance::Setter, type_name};

use crate::accumulator::Accumulator;
use crate::build::Scope;
use crate::fields::{FieldSpec, FieldTable};
use crate::kustomization::entries::{Var, VarObject};
use crate::problems::{Place, Problem};
use crate::resource::Resource;
use crate::transform::replacements::ValuePath;
use crate::{Gvk, ResId};

use expand::Values;

/// The field of a variable that names none.
const DEFAULT_FIELD: &str = "metadata.name";

/// A variable that cannot be used, or is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VarProblem {
    /// One name for two variables.
    #[error("the variable `{name}` is there twice: in {first} and in {second}")]
    Twice {
        /// The name.
        name: String,
        /// Where it is.
        first: String,
        /// Where it is too.
        second: String,
    },
    /// Several objects could be meant.
    #[error("`{id}` could be {}: add `namespace` to `objref`", candidates.join(" or "))]
    Ambiguous {
        /// The object as it is written.
        id: Box<ResId>,
        /// The objects as they are called now.
        candidates: Vec<String>,
    },
    /// The object is not there.
    #[error("the variable `{name}` takes its value from `{id}`, which is not there")]
    NoObject {
        /// The variable.
        name: String,
        /// The object as it is written.
        id: Box<ResId>,
    },
    /// The object has no such field.
    #[error("the variable `{name}` takes its value from `{field}` of `{id}`: {reason}")]
    NoField {
        /// The variable.
        name: String,
        /// The field.
        field: String,
        /// The object as it is called now.
        id: Box<ResId>,
        /// What is wrong with the way to the field.
        reason: String,
    },
    /// The field holds more than one value: a warning.
    #[error(
        "the variable `{name}` stands for {found} and is put nowhere: only single values can stand in a text"
    )]
    NotAScalar {
        /// The variable.
        name: String,
        /// The type of the field with its article.
        found: &'static str,
    },
    /// Nothing refers to the variable: a warning.
    #[error("the variable `{0}` is used nowhere")]
    Unused(String),
}

/// A variable on its way to the top.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    object: ResId,
    field: Box<str>,
    place: Place,
}

/// Variables by name.
pub(crate) type Variables = BTreeMap<Arc<str>, Variable>;

/// Adds a variable.
/// # Errors
/// `Twice`; then the first one stays.
pub(crate) fn add(name: Arc<str>, variable: Variable, to: &mut Variables) -> Result<(), VarProblem> {
    if let Some(first) = to.get(&name) {
        let (first, second) = (first.place.to_string(), variable.place.to_string());
        return Err(VarProblem::Twice { name: name.to_string(), first, second });
    }
    to.insert(name, variable);
    Ok(())
}

/// Takes up the variables of one kustomization.
pub(crate) fn gather(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let vars = &scope.kustomization.vars;
    if vars.is_empty() {
        return;
    }
    for (index, var) in vars.iter().enumerate() {
        let field = format!("vars[{index}]");
        let wanted = id_of(&var.object);
        let mut found = objects.named(&wanted.name);
        found.retain(|position| {
            objects.get(*position).is_some_and(|resource| resource.ids().any(|id| means(&wanted, id)))
        });
        let name: Arc<str> = var.name.as_str().into();
        match found.as_slice() {
            // A target further up may have the object; at the top it is missed.
            [] => {}
            [position] => {
                objects.edit(*position, |resource| resource.variables.push(Arc::clone(&name)));
            }
            several => {
                let names = several.iter().filter_map(|position| objects.get(*position));
                let candidates = names.map(|resource| format!("`{}`", resource.id())).collect();
                scope.problem(&field, VarProblem::Ambiguous { id: Box::new(wanted), candidates });
                continue;
            }
        }
        let variable =
            Variable { object: wanted, field: field_of(var).into(), place: scope.root.place(&field) };
        if let Err(problem) = add(name, variable, &mut objects.variables) {
            scope.problem(&field, problem);
        }
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

/// Whether an id is the one that is written; without a namespace any will do.
fn means(wanted: &ResId, id: &ResId) -> bool {
    let is_named = wanted.name == id.name && wanted.gvk == id.gvk;
    is_named && (wanted.written_namespace().is_empty() || wanted == id)
}

/// Puts the values of all variables into the texts.
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
    let mut values = Values::default();
    for (name, variable) in &variables {
        match value_of(name, variable, marked.get(&**name).copied()) {
            Ok(value) => values.add(name, value),
            Err(VarProblem::NoObject { .. }) if objects.is_partial => {}
            Err(problem) => tell(&mut scope.session.problems.errors, &variable.place, problem),
        }
    }
    let tables = objects.tables.clone();
    replace(&mut values, &tables.var_references, objects);
    let warnings = &mut scope.session.problems.warnings;
    for (name, variable) in &variables {
        if let Some(found) = values.refused(name) {
            let name = name.to_string();
            tell(warnings, &variable.place, VarProblem::NotAScalar { name, found });
        } else if values.is_unused(name) {
            tell(warnings, &variable.place, VarProblem::Unused(name.to_string()));
        }
    }
}

fn tell(problems: &mut Vec<Problem>, place: &Place, problem: VarProblem) {
    problems.push(Problem { place: place.clone(), kind: problem.into() });
}

fn value_of(name: &str, variable: &Variable, from: Option<&Resource>) -> Result<Value, VarProblem> {
    let name = || name.to_owned();
    let Some(resource) = from else {
        return Err(VarProblem::NoObject { name: name(), id: Box::new(variable.object.clone()) });
    };
    let path = ValuePath::parse(&with_steps(&variable.field)).map_err(|problem| problem.to_string());
    let fields = resource.object.as_map();
    let found = path.and_then(|path| path.lookup(fields).cloned().map_err(|fault| fault.to_string()));
    found.map_err(|reason| {
        let (field, id) = (variable.field.to_string(), Box::new(resource.id().clone()));
        VarProblem::NoField { name: name(), field, id, reason }
    })
}

/// Writes the indices of a path as steps of their own: `ports[0].port` is `ports.0.port`.
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

/// Writes the fields of a table that mention a variable: texts, and the texts in lists and mappings.
fn replace(values: &mut Values, fields: &FieldTable, objects: &mut Accumulator) {
    objects.edit_all(|resource| {
        let specs: Vec<_> = fields.of(&resource.object).collect();
        for spec in specs {
            let mut is_mentioned = false;
            spec.read(&resource.object, |value| is_mentioned |= texts_of(value).any(expand::may_change));
            if is_mentioned {
                let setter = resource.object.provenance().map(|_| setter(spec, &resource.object));
                let object: &mut Object = &mut resource.object;
                spec.path.edit(object.as_map_mut(), false, &mut |value| expand_in(values, value));
                if let Some(setter) = setter {
                    object.set_by(&setter);
                }
            }
        }
    });
}

/// What will have set a field of an object: the variables it mentions.
fn setter(spec: &FieldSpec, object: &Object) -> Arc<Setter> {
    let mut names = BTreeSet::new();
    spec.read(object, |value| {
        let mentioned = texts_of(value).flat_map(expand::names);
        names.extend(mentioned.map(|name| format!("$({name})")));
    });
    let names: Vec<String> = names.into_iter().collect();
    Arc::new(Setter { field: names.join(" "), ..Setter::default() })
}

fn texts_of(value: &Value) -> impl Iterator<Item = &str> {
    let in_list = value.as_array().into_iter().flatten();
    let in_map = value.as_object().into_iter().flat_map(|fields| fields.values());
    std::iter::once(value).chain(in_list).chain(in_map).filter_map(Value::as_str)
}

fn expand_in(values: &mut Values, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| values.expand(item)),
        Value::Object(fields) => fields.values_mut().for_each(|item| values.expand(item)),
        single => values.expand(single),
    }
}

/// The type of a value that cannot stand in a text, with its article.
fn refused_type(value: &Value) -> Option<&'static str> {
    let is_single = value.is_string() || value.is_number() || value.is_boolean();
    (!is_single).then(|| type_name(value))
}

#[cfg(test)]
mod tests;
