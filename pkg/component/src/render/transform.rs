//! Changes of rendered objects: substitution of variables, patches, images.

use chart::MemoryTree;
use chart::TreePath;
use manifest::{Object, ObjectRef, YamlLimits, yaml};
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

/// Substitutes variables in the text of each object without the annotation `disableSubstitution`.
pub struct Substitution<'a> {
    /// Returns a text with its variables replaced, or the reason of a failure.
    pub substitute: &'a dyn Fn(&str) -> Result<String, String>,
}

impl Transformer for Substitution<'_> {
    fn transform(&self, objects: Vec<Object>) -> Result<Vec<Object>, RenderError> {
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
    fn substitute(&self, object: &Object) -> Result<Object, String> {
        let text = yaml::write(&Value::Object(object.as_map().clone()));
        let text = (self.substitute)(&text)?;
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
