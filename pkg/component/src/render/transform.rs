//! Changes of rendered objects: substitution of variables, patches, images.

use std::collections::BTreeMap;

use chart::{MemoryTree, TreePath};
use manifest::{
    Object, ObjectRef, YamlLimits,
    envsubst::{Dialect, Template},
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
                Ok(object) => changed.push(object),
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
    fn substitute(self, object: &Object) -> Result<Object, String> {
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
        Object::try_from(value).map_err(|_| "the result is no object".to_owned())
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
        build(&tree, &folder, objects)
    }
}
