use std::collections::BTreeMap;

use manifest::Object;

use super::{
    ClusterTemplate, ClusterTemplateError, ClusterTemplateInput, class_text, parse, place, refuse_existing,
};
use crate::{
    cluster_class::ClusterClassName,
    layer::{self, Layer},
};

/// Applies a kustomization to the classes and the template together, before their namespaces are set, so that a patch
/// may match any of these objects. The template alone determines the classes, not the kustomization.
pub(super) async fn render(
    input: &ClusterTemplateInput<'_>,
    layer: &dyn Layer,
    template: Vec<Object>,
    classes: Vec<ClusterClassName>,
    mut rendered: ClusterTemplate,
) -> Result<ClusterTemplate, ClusterTemplateError> {
    let mut written = Vec::new();
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
            written.push(object);
        }
        rendered.added_classes.push(class);
    }
    written.extend(template);
    let file = &input.template.file;
    let layered = layer::apply(layer, written, file)
        .map_err(|source| ClusterTemplateError::Layer { file: file.clone(), source })?;
    rendered.warnings.extend(layered.warnings);
    for object in layered.objects {
        let owner = owners.get(&key(&object));
        let namespace = owner.map_or(input.target_namespace, |class| &class.namespace);
        let placed = place(input.template, vec![object], namespace)?;
        if let (Some(cluster), Some(class)) = (input.cluster, owner) {
            refuse_existing(cluster, class, &placed).await?;
        }
        rendered.objects.extend(placed);
    }
    Ok(rendered)
}

/// Identifies objects of classes. Namespaces are not compared, because they are not set yet.
fn key(object: &Object) -> (String, String, String) {
    (object.group().to_owned(), object.kind().to_owned(), object.name().to_owned())
}
