use std::collections::BTreeMap;

use manifest::Object;

use super::{
    ClusterTemplate, ClusterTemplateError, ClusterTemplateInput, check_absent, class_text, move_to_namespace,
    parse,
};
use crate::{
    cluster_class::ClusterClassName,
    overlay::{self, Overlay},
};

/// Applies a kustomization to the classes and the template together, before their namespaces are set, so that a patch
/// may match any of these objects. The template alone determines the classes, not the kustomization.
pub(super) async fn render_with_overlay(
    input: &ClusterTemplateInput<'_>,
    overlay: &dyn Overlay,
    template: Vec<Object>,
    classes: Vec<ClusterClassName>,
    mut rendered: ClusterTemplate,
) -> Result<ClusterTemplate, ClusterTemplateError> {
    let mut parsed = Vec::new();
    let mut owners = BTreeMap::new();
    for class in classes {
        // Two Clusters may use the same class.
        if rendered.added_classes.contains(&class) {
            continue;
        }
        let Some(release) = input.release else { continue };
        let file = class_text(release, &class).await?;
        let text = file.substitute(input.variables)?;
        for object in parse(input, &file, &text, &mut rendered.warnings)? {
            owners.insert(key(&object), class.clone());
            parsed.push(object);
        }
        rendered.added_classes.push(class);
    }
    parsed.extend(template);
    let file = &input.template.file;
    let result = overlay::apply(overlay, parsed, file)
        .map_err(|source| ClusterTemplateError::Overlay { file: file.clone(), source })?;
    rendered.warnings.extend(result.warnings);
    for object in result.objects {
        let owner = owners.get(&key(&object));
        let namespace = owner.map_or(input.target_namespace, |class| &class.namespace);
        let moved = move_to_namespace(input.template, vec![object], namespace)?;
        if let (Some(cluster), Some(class)) = (input.cluster, owner) {
            check_absent(cluster, class, &moved).await?;
        }
        rendered.objects.extend(moved);
    }
    Ok(rendered)
}

/// Identifies objects of classes. Namespaces are not compared, because they are not set yet.
fn key(object: &Object) -> (String, String, String) {
    (object.group().to_owned(), object.kind().to_owned(), object.name().to_owned())
}
