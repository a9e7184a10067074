//! Changes of rendered objects: substitution of variables, patches, images.

use std::collections::BTreeMap;
use std::sync::Arc;

use chart::{MemoryTree, TreePath};
use manifest::{
    Map, Object, ObjectRef, YamlLimits,
    envsubst::{Dialect, Template},
    pointer,
    provenance::{FieldOrigin, Trace},
    yaml,
};
use serde_json::{Value, json};

use super::error::{RenderError, RenderProblem};
use super::kustomization::build;
use crate::RECONCILER;

/// Changes the objects of a generator.
pub trait Transformer {
    /// Returns the changed objects.
    ///
    /// # Errors
    /// All problems that were found.
    fn transform(&self, objects: Vec<Object>) -> Result<Vec<Object>, RenderError>;
}

/// Substitutes variables in the text of each object without the annotation `disableSubstitution`. A variable without a
/// value is empty. Without any variable, texts stay as they are.
#[derive(Clone, Copy)]
pub struct Substitution<'a> {
    /// The values of variables by name.
    pub variables: &'a BTreeMap<String, String>,
    /// The sources of variables by name, for the provenance of fields.
    pub sources: &'a BTreeMap<String, String>,
}

impl Transformer for Substitution<'_> {
    fn transform(&self, objects: Vec<Object>) -> Result<Vec<Object>, RenderError> {
        if self.variables.is_empty() {
            return Ok(objects);
        }
        let disabled = format!("{RECONCILER}/disableSubstitution");
        let mut problems = Vec::new();
        let mut changed = Vec::with_capacity(objects.len());
        for object in objects {
            if object.annotation(&disabled) == Some("true") {
                changed.push(object);
                continue;
            }
            match self.substitute(&object) {
                Ok(fields) => changed.push(self.replaced(object, fields)),
                Err(reason) => {
                    problems.push(RenderProblem::Substitution { object: ObjectRef::of(&object), reason });
                }
            }
        }
        RenderError::check(problems)?;
        Ok(changed)
    }
}

impl Substitution<'_> {
    fn substitute(self, object: &Object) -> Result<Map<String, Value>, String> {
        let text = yaml::write(&Value::Object(object.as_map().clone()));
        let is_secret = object.group().is_empty() && object.kind() == "Secret";
        let template = Template::parse_in(&text, Dialect::Components).map_err(|error| {
            // An excerpt of a Secret may contain its values.
            let fault = error.faults.first().filter(|_| is_secret);
            fault.map_or_else(|| error.to_string(), |it| format!("{}: {}", it.position, it.kind))
        })?;
        let text = template
            .render(&mut |name| Some(self.variables.get(name).map_or("", String::as_str).into()))
            .map_err(|error| if is_secret { "a value is invalid".to_owned() } else { error.to_string() })?;
        let value = yaml::read_value(&text, &YamlLimits::default())
            .map_err(|error| format!("the result is no YAML: line {}: {}", error.line, error.kind))?;
        match value {
            Value::Object(fields) => Ok(fields),
            _ => Err("the result is no object".to_owned()),
        }
    }

    /// Replaces the fields of an object. Records the variables of each field if the object is traced.
    fn replaced(self, mut object: Object, fields: Map<String, Value>) -> Object {
        if object.provenance().is_none() {
            return Object::from_map(fields);
        }
        let mut pointers = BTreeMap::new();
        collect_variables(&Value::Object(object.as_map().clone()), &mut String::new(), &mut pointers);
        let after = Value::Object(fields.clone());
        let mut step = Value::Object(object.as_map().clone());
        for (names, pointers) in pointers {
            for pointer in pointers {
                if let (Some(old), Some(new)) = (step.pointer_mut(&pointer), after.pointer(&pointer)) {
                    old.clone_from(new);
                }
            }
            if let Value::Object(fields) = &step {
                object.replace_fields(fields.clone());
            }
            object.record_provenance(&Arc::new(self.origin(&names)));
        }
        object.replace_fields(fields);
        object.record_provenance(&Arc::new(self.origin(&[])));
        object
    }

    /// Returns the origin of a field with some variables.
    fn origin(self, names: &[String]) -> FieldOrigin {
        let field: Vec<String> = names.iter().map(|name| format!("${{{name}}}")).collect();
        let source = |name| self.sources.get(name).map_or("no value", String::as_str);
        let mut sources: Vec<&str> = names.iter().map(source).collect();
        sources.dedup();
        match names {
            [] => FieldOrigin { field: "spec.postBuild.substitute".to_owned(), ..FieldOrigin::default() },
            _ => FieldOrigin { file: String::new(), field: field.join(" "), content: sources.join(", ") },
        }
    }
}

/// Collects the pointers of texts by their variables.
fn collect_variables(value: &Value, at: &mut String, found: &mut BTreeMap<Vec<String>, Vec<String>>) {
    let length = at.len();
    let mut visit = |step: &str, value: &Value| {
        at.push('/');
        at.push_str(step);
        collect_variables(value, at, found);
        at.truncate(length);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| visit(&pointer::step(key), value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| visit(&index.to_string(), value));
        }
        Value::String(text) => {
            let Ok(template) = Template::parse_in(text, Dialect::Components) else { return };
            let names: Vec<String> = template.variables().top_level.into_iter().map(|one| one.name).collect();
            if !names.is_empty() {
                found.entry(names).or_default().push(at.clone());
            }
        }
        _ => {}
    }
}

/// Applies patches and replacements of images, as a kustomization does.
#[derive(Clone, Debug, Default)]
pub struct KustomizeTransformer {
    /// The field `patches` of a kustomization: a list.
    pub patches: Value,
    /// The field `images` of a kustomization: a list.
    pub images: Value,
}

impl Transformer for KustomizeTransformer {
    fn transform(&self, objects: Vec<Object>) -> Result<Vec<Object>, RenderError> {
        let fields = json!({ "patches": self.patches, "images": self.images });
        let folder = TreePath::new("/postBuild");
        let mut tree = MemoryTree::default();
        tree.insert(folder.join("kustomization.yaml"), yaml::write(&fields).into_bytes());
        let trace = Trace::of(&objects);
        let mut objects = build(&tree, &folder, objects, trace)?;
        for object in &mut objects {
            object.map_origins(|origin| {
                if !origin.file.starts_with(folder.as_str()) {
                    return origin.clone();
                }
                FieldOrigin { field: format!("spec.postBuild.{}", origin.field), ..FieldOrigin::default() }
            });
        }
        Ok(objects)
    }
}
