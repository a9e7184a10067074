//! Objects that are created from templates.
//!
//! Source: Cluster API v1.14 `controllers/external` (`GenerateTemplate`).

use serde_json::{Map, Value, json};

use super::{
    object::{self, CLUSTER_NAME, merge_maps, set, string_map, text},
    plan::ObjectReader,
};
use crate::controllers::ObjectRef;

/// The annotation with the name of the template of an object.
pub(super) const CLONED_FROM_NAME: &str = "cluster.x-k8s.io/cloned-from-name";
/// The annotation with the kind and the group of the template of an object.
pub(super) const CLONED_FROM_KIND: &str = "cluster.x-k8s.io/cloned-from-groupkind";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The metadata of an object to create from a template.
#[derive(Clone, Debug, Default)]
pub(super) struct TemplateClone<'a> {
    pub(super) name: &'a str,
    pub(super) cluster: &'a str,
    pub(super) labels: Map<String, Value>,
    pub(super) annotations: Map<String, Value>,
    pub(super) owner: Option<Value>,
}

impl TemplateClone<'_> {
    /// Creates an object from a template, of the kind without `Template`: `None` if the template does not exist.
    pub(super) fn instantiate(self, reader: &ObjectReader<'_>, template: &ObjectRef) -> Option<Value> {
        let found = reader.get(template)?;
        let inner = &found["spec"]["template"];
        let kind = template.kind.strip_suffix("Template").unwrap_or(&template.kind);
        let api_version = reader.api_version(&template.group, kind);
        let mut object = json!({
            "apiVersion": api_version.unwrap_or_else(|| text(&found, "/apiVersion").to_owned()), "kind": kind,
            "spec": inner["spec"],
        });
        if inner["spec"].is_null() {
            set(&mut object, &["spec"], json!({}));
        }
        let from = (string_map(inner, "/metadata/labels"), string_map(inner, "/metadata/annotations"));
        self.write_metadata(&mut object, template, from);
        Some(object)
    }

    /// Copies a template under another name: `None` if the template does not exist.
    pub(super) fn copy_template(self, reader: &ObjectReader<'_>, template: &ObjectRef) -> Option<Value> {
        let found = reader.get(template)?;
        let mut object =
            json!({"apiVersion": found["apiVersion"], "kind": found["kind"], "spec": found["spec"]});
        let from = (string_map(&found, "/metadata/labels"), string_map(&found, "/metadata/annotations"));
        self.write_metadata(&mut object, template, from);
        Some(object)
    }

    fn write_metadata(
        self,
        object: &mut Value,
        template: &ObjectRef,
        (labels, annotations): (Map<String, Value>, Map<String, Value>),
    ) {
        let mut labels = merge_maps(labels, self.labels);
        labels.insert(CLUSTER_NAME.to_owned(), json!(self.cluster));
        let mut annotations = merge_maps(annotations, self.annotations);
        annotations.remove(LAST_APPLIED);
        annotations.insert(CLONED_FROM_NAME.to_owned(), json!(template.name));
        annotations
            .insert(CLONED_FROM_KIND.to_owned(), json!(format!("{}.{}", template.kind, template.group)));
        let mut metadata = json!({
            "name": self.name, "namespace": template.namespace, "labels": labels, "annotations": annotations,
        });
        if let Some(owner) = self.owner {
            set(&mut metadata, &["ownerReferences"], json!([owner]));
        }
        set(object, &["metadata"], metadata);
    }
}

/// True if an object was created from this template. Missing annotations count as a match.
pub(super) fn is_clone_of(object: &Value, template: &ObjectRef) -> bool {
    object::annotation(object, CLONED_FROM_NAME).is_none_or(|name| name == template.name)
        && object::annotation(object, CLONED_FROM_KIND)
            .is_none_or(|kind| kind == format!("{}.{}", template.kind, template.group))
}

/// A generated name: the base, truncated if too long, and five random letters.
pub(super) fn generated_name(base: &str) -> String {
    /// The maximum length of a DNS label minus the random letters.
    const MAX_BASE_LENGTH: usize = 58;
    let base: String = base.chars().take(MAX_BASE_LENGTH).collect();
    format!("{base}{}", crate::meta::random_suffix())
}

/// Expands the template of a naming strategy with `.cluster.name`, `.random` and other given fields. Keeps unknown
/// expressions, so that the server refuses the name.
pub(super) fn expand_name(strategy: &str, fallback: &str, fields: &[(&str, &str)]) -> String {
    let strategy = if strategy.is_empty() { fallback } else { strategy };
    let mut name = strategy.to_owned();
    let random = crate::meta::random_suffix();
    for (field, value) in fields.iter().chain(&[("random", random.as_str())]) {
        for spelling in [format!("{{{{ .{field} }}}}"), format!("{{{{.{field}}}}}")] {
            name = name.replace(&spelling, value);
        }
    }
    if name.chars().count() > 63 { generated_name(&name) } else { name }
}
