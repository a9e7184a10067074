//! Checks of Components before they reach a cluster, by the schema of the CustomResourceDefinition.

use std::{
    fmt::{self, Write as _},
    sync::LazyLock,
};

use boon::{Compiler, ErrorKind, InstanceToken, SchemaIndex, Schemas, Type, ValidationError};
use kube_cel::Validator;
use manifest::{Map, Object, Value};
use serde::Deserialize as _;

use crate::{API_VERSION, Component, KIND, definition::SCHEMA};

/// A Component that fits its schema.
#[derive(Clone, Debug)]
pub struct CheckedComponent {
    /// The typed Component.
    pub component: Component,
    /// The object without unknown fields and nulls, as an API server stores it.
    pub object: Object,
    /// Unknown fields, which an API server drops.
    pub unknown_fields: Vec<String>,
}

/// A field that a schema rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FieldProblem {
    /// The field, such as `spec.valuesFrom[0].name`.
    pub field: String,
    /// The problem in the words of kube-apiserver.
    pub problem: String,
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

/// Checks an object by the schema of Components, as an API server does, and reads it.
/// # Errors
/// All fields that do not fit. Rules about several fields are checked once all fields fit.
pub fn check_component(object: &Object) -> Result<CheckedComponent, Vec<FieldProblem>> {
    let problem = |field: &str, problem: String| FieldProblem { field: field.to_owned(), problem };
    let mut problems = Vec::new();
    for (field, found, expected) in
        [("apiVersion", object.api_version(), API_VERSION), ("kind", object.kind(), KIND)]
    {
        if found != expected {
            problems.push(problem(
                field,
                format!("Unsupported value: {found:?}: supported values: {expected:?}"),
            ));
        }
    }
    if object.name().is_empty() {
        problems.push(problem("metadata.name", "Required value".to_owned()));
    }
    let (mut value, mut unknown_fields) = (object.clone().into_value(), Vec::new());
    prune(&SCHEMA, &mut value, "", &mut unknown_fields);
    if let Err(error) = VALIDATOR.schemas.validate(&value, VALIDATOR.root) {
        collect(&error, &value, &mut problems);
    }
    if problems.is_empty()
        && let Err(errors) = Validator::new().validate(&SCHEMA, &value, None)
    {
        let broken = errors.into_vec().into_iter();
        problems.extend(
            broken.map(|error| problem(&error.field_path, format!("Invalid value: {}", error.message))),
        );
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let object = Object::try_from(value).unwrap_or_default();
    let component = Component::deserialize(object.clone().into_value())
        .map_err(|error| vec![problem("spec", format!("Invalid value: {error}"))])?;
    Ok(CheckedComponent { component, object, unknown_fields })
}

struct CompiledSchema {
    schemas: Schemas,
    root: SchemaIndex,
}

static VALIDATOR: LazyLock<CompiledSchema> = LazyLock::new(|| {
    const URL: &str = "file:///component.json";
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.add_resource(URL, SCHEMA.clone()).expect("invariant: the schema is made from types");
    let root = compiler.compile(URL, &mut schemas).expect("invariant: the schema is made from types");
    CompiledSchema { schemas, root }
});

/// Drops unknown fields and nulls.
/// Source: kube-apiserver 1.36 (structural schemas: pruning, and nulls without a default).
fn prune(schema: &Value, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return;
    }
    match value {
        Value::Object(fields) => prune_fields(schema, fields, path, unknown),
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                prune(&schema["items"], item, &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

fn prune_fields(schema: &Value, fields: &mut Map<String, Value>, path: &str, unknown: &mut Vec<String>) {
    let (properties, additional) = (schema.get("properties"), schema.get("additionalProperties"));
    if properties.is_none() && additional.is_none() {
        return;
    }
    fields.retain(|name, value| {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if let Some(schema) = properties.and_then(|known| known.get(name)).or(additional) {
            prune(schema, value, &path, unknown);
            !value.is_null()
        } else {
            unknown.push(path);
            false
        }
    });
}

/// Adds the problems of an error and of the errors inside.
fn collect(error: &ValidationError<'_, '_>, object: &Value, problems: &mut Vec<FieldProblem>) {
    let (mut field, mut value) = (String::new(), object);
    for token in &error.instance_location.tokens {
        match token {
            InstanceToken::Prop(name) => {
                let dot = if field.is_empty() { "" } else { "." };
                let _ = write!(field, "{dot}{name}");
                value = &value[name.as_ref()];
            }
            InstanceToken::Item(at) => {
                let _ = write!(field, "[{at}]");
                value = &value[*at];
            }
        }
    }
    match &error.kind {
        ErrorKind::Type { want, .. } => {
            let want = want.iter().map(|one: Type| one.to_string()).collect::<Vec<_>>().join(" or ");
            let found = manifest::type_name(value);
            let problem = format!("Invalid value: {found}: must be of type {want}");
            problems.push(FieldProblem { field, problem });
        }
        ErrorKind::Enum { want } => {
            let known = want.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            problems.push(FieldProblem {
                field,
                problem: format!("Unsupported value: {value}: supported values: {known}"),
            });
        }
        ErrorKind::Pattern { want, .. } => {
            problems.push(FieldProblem {
                field,
                problem: format!("Invalid value: {value}: must match '{want}'"),
            });
        }
        ErrorKind::Required { want } => {
            let dot = if field.is_empty() { "" } else { "." };
            problems.extend(want.iter().map(|name| FieldProblem {
                field: format!("{field}{dot}{name}"),
                problem: "Required value".to_owned(),
            }));
        }
        other if error.causes.is_empty() => {
            problems.push(FieldProblem { field, problem: format!("Invalid value: {other}") });
        }
        _ => {}
    }
    error.causes.iter().for_each(|cause| collect(cause, object, problems));
}

#[cfg(test)]
mod tests;
