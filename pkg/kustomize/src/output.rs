//! The result of a build: objects, and their text as printed by kustomize.

mod files;
pub(crate) mod metadata;

use manifest::{Map, Object, Value, write_traced_stream};

use crate::BuildProblem;
use crate::accumulator::Accumulator;
use crate::scope::Scope;

const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// The result of a build.
#[derive(Debug)]
pub struct BuildOutput {
    /// The objects, in order.
    pub objects: Vec<Object>,
    /// The warnings for the authors of the kustomizations.
    pub warnings: Vec<BuildProblem>,
}

impl BuildOutput {
    /// Returns the objects as one YAML stream, as kustomize prints it. Traced objects have comments that name the
    /// origin of each field.
    pub fn text(&self) -> String {
        let mut text = write_traced_stream(&self.objects);
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Converts annotation values that are not strings to strings.
pub(crate) fn stringify_annotations(object: &mut Object) {
    let is_none = |value: &Value| !value.is_string();
    let annotations = object.get(&["metadata", "annotations"]).and_then(Value::as_object);
    if !annotations.is_some_and(|all| all.values().any(is_none)) {
        return;
    }
    let annotations = object.get_mut(&["metadata", "annotations"]).and_then(Value::as_object_mut);
    for value in annotations.into_iter().flat_map(Map::values_mut).filter(|value| is_none(value)) {
        let text = if value.is_object() || value.is_array() { String::new() } else { value.to_string() };
        *value = Value::String(text);
    }
}

/// The start of the JSON pointer to an annotation.
const ANNOTATIONS: &str = "/metadata/annotations/";

/// Converts all annotations to strings, and drops an empty mapping of annotations.
/// Source: kustomize v5.8.1 api/resource (`SetAnnotations`), which rewrites them when it removes its own annotations.
pub(crate) fn normalize_annotations(_scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let is_nothing = |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
    objects.edit_all(|resource| {
        let fields = resource.empty_fields.iter().flat_map(|fields| fields.iter());
        let names = fields.filter_map(|field| field.strip_prefix(ANNOTATIONS));
        for name in names.map(manifest::pointer::name) {
            if resource.object.get(&["metadata", "annotations", &name]).is_some_and(Value::is_null) {
                resource.object.set_annotation(&name, "");
            }
        }
        stringify_annotations(&mut resource.object);
        if resource.object.get(&["metadata", "annotations"]).is_some_and(is_nothing)
            && let Some(metadata) = resource.object.get_mut(&["metadata"]).and_then(Value::as_object_mut)
        {
            metadata.remove("annotations");
        }
    });
}

/// Drops the objects with the local-config annotation: they exist only for the build.
pub(crate) fn drop_local_config(_scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let is_local = |annotation: Option<&str>| annotation.is_some_and(|value| value != "false");
    let dropped: Vec<_> = objects
        .iter()
        .filter(|(_, resource)| is_local(resource.object.annotation(LOCAL_CONFIG)))
        .map(|(position, _)| position)
        .collect();
    for position in dropped {
        objects.remove(position);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::built;

    #[test]
    fn annotations_become_strings_and_empty_ones_are_omitted() {
        let annotated = |annotations: &str, more: &str| {
            let object = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {annotations}\n"
            );
            let kustomization = format!("resources: [a.yaml]\n{more}");
            let object = built(&[("/kustomization.yaml", &kustomization), ("/a.yaml", &object)]);
            object["metadata"].get("annotations").cloned()
        };
        let written = "{a: 1.50, b: yes, c/d~e: , d: null, e: {f: g}}";
        let texts = json!({"a": "1.50", "b": "yes", "c/d~e": "", "d": "null", "e": ""});
        assert_eq!(annotated(written, ""), Some(texts));
        assert_eq!(annotated("{}", ""), None);
        assert_eq!(annotated("", ""), None);
        let add = "patches: [{target: {kind: ConfigMap}, patch: '[{op: add, path: /metadata/annotations/a, value: 1}]'}]";
        assert_eq!(annotated("{}", add), Some(json!({"a": "1"})));
    }
}
