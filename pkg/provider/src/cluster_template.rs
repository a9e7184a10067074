//! Renders a cluster template into the objects of a workload cluster, including ClusterClasses.

mod overlay;

use std::collections::BTreeSet;

use manifest::{
    Object, ObjectRef,
    namespace::{self, NamespaceError},
    provenance::Trace,
    typed::{self, TypedError},
};

use crate::{
    cluster_class::{ClusterClassName, used_cluster_classes},
    components::{list, try_each},
    config::Variables,
    management_cluster::{ManagementCluster, ManagementClusterError},
    overlay::{Overlay, OverlayError},
    provenance::{ROUND_TRIP, TARGET_NAMESPACE, record_provenance},
    release::{Release, ReleaseError},
    template_text::{MissingValues, RenderTextError, TemplateText},
};

/// The input of [`render_cluster_template`].
#[derive(Clone, Copy)]
pub struct ClusterTemplateInput<'a> {
    /// The template before substitution.
    pub template: &'a TemplateText,
    /// The values of template variables.
    pub variables: &'a Variables<'a>,
    /// The namespace of all objects, regardless of the template.
    pub target_namespace: &'a str,
    /// The release that contains the template and its ClusterClasses. `None` for templates from other sources.
    pub release: Option<&'a Release<'a>>,
    /// The user's kustomization, applied to the template and its ClusterClasses together.
    pub overlay: Option<&'a dyn Overlay>,
    /// The management cluster, which may already have the ClusterClasses.
    pub cluster: Option<&'a dyn ManagementCluster>,
    /// Controls recording of the origin of fields.
    pub trace: Trace,
}

/// The objects of a workload cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterTemplate {
    /// The objects of the ClusterClasses, then those of the template, each in file order.
    pub objects: Vec<Object>,
    /// The added ClusterClasses.
    pub added_classes: Vec<ClusterClassName>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// A failure to render a cluster template.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ClusterTemplateError {
    #[error(transparent)]
    Text(#[from] RenderTextError),
    #[error("cannot move the objects of `{file}` to namespace `{namespace}`: {}", list(references))]
    Namespace { file: String, namespace: String, references: Vec<NamespaceError> },
    #[error("invalid objects in `{file}`: {}", list(fields))]
    Typed { file: String, fields: Vec<TypedError> },
    #[error("cannot customise `{file}`")]
    Overlay {
        file: String,
        #[source]
        source: OverlayError,
    },
    #[error("cannot read ClusterClass `{}/{}`, which the template uses", class.namespace, class.name)]
    ClusterClass {
        class: ClusterClassName,
        #[source]
        source: Box<ReleaseError>,
    },
    #[error(transparent)]
    ManagementCluster(#[from] ManagementClusterError),
    #[error("{object} of ClusterClass `{class}` already exists in the cluster, but the class does not")]
    AlreadyExists { object: ObjectRef, class: String },
}

/// Renders a cluster template.
///
/// Source: clusterctl v1.14 client/config.go and client/clusterclass.go. Differs: missing variables of the template and
/// its ClusterClasses are reported together.
/// # Errors
/// `Text` with the missing variables of all files; other variants name the object or class.
pub async fn render_cluster_template(
    input: &ClusterTemplateInput<'_>,
) -> Result<ClusterTemplate, ClusterTemplateError> {
    let text = match input.template.substitute(input.variables) {
        Ok(text) => text,
        Err(RenderTextError::Missing(missing)) => {
            let all = missing_with_classes(input, missing).await;
            return Err(RenderTextError::Missing(all).into());
        }
        Err(error) => return Err(error.into()),
    };
    let mut rendered = ClusterTemplate::default();
    let parsed = parse(input, input.template, &text, &mut rendered.warnings)?;
    let mut objects = move_to_namespace(input.template, parsed.clone(), input.target_namespace)?;
    if input.release.is_some() {
        check_clusters(input.template, &objects)?;
    }
    let classes = classes_to_add(input, &objects).await?;
    if let Some(layer) = input.overlay {
        return overlay::render_with_overlay(input, layer, parsed, classes, rendered).await;
    }
    for class in classes {
        let mut class_objects = render_class(input, &class, &mut rendered.warnings).await?;
        if let Some(cluster) = input.cluster {
            check_absent(cluster, &class, &class_objects).await?;
        }
        rendered.objects.append(&mut class_objects);
        rendered.added_classes.push(class);
    }
    rendered.objects.append(&mut objects);
    Ok(rendered)
}

fn parse(
    input: &ClusterTemplateInput<'_>,
    file: &TemplateText,
    text: &str,
    warnings: &mut Vec<String>,
) -> Result<Vec<Object>, ClusterTemplateError> {
    let mut stream = file.read_objects(text)?;
    warnings.extend(file.warnings(&stream));
    file.trace(input.trace, &mut stream.objects);
    Ok(stream.objects)
}

/// Moves objects into a namespace, in the form that clusterctl prints them.
fn move_to_namespace(
    file: &TemplateText,
    mut objects: Vec<Object>,
    target_namespace: &str,
) -> Result<Vec<Object>, ClusterTemplateError> {
    let trace = Trace::of(&objects);
    let unmovable = |references| ClusterTemplateError::Namespace {
        file: file.file.clone(),
        namespace: target_namespace.to_owned(),
        references,
    };
    namespace::set_namespace(&mut objects, target_namespace).map_err(unmovable)?;
    record_provenance(trace, "", TARGET_NAMESPACE, &mut objects);
    round_trip(file, &mut objects)?;
    record_provenance(trace, "", ROUND_TRIP, &mut objects);
    namespace::move_references(&mut objects, target_namespace).map_err(unmovable)?;
    record_provenance(trace, "", TARGET_NAMESPACE, &mut objects);
    Ok(objects)
}

/// Rewrites bindings, webhooks and CRDs as their Go types write them. Deployments of a template stay as written,
/// because their images are not inspected.
fn round_trip(file: &TemplateText, objects: &mut [Object]) -> Result<(), ClusterTemplateError> {
    try_each(objects, |object| typed::round_trip(object, typed::KindSet::References))
        .map_err(|fields| ClusterTemplateError::Typed { file: file.file.clone(), fields })
}

/// Validates the Clusters of a provider template, because classes can only be read from a valid topology. clusterctl
/// validates the entire Cluster, and only in provider templates.
fn check_clusters(file: &TemplateText, objects: &[Object]) -> Result<(), ClusterTemplateError> {
    try_each(objects, typed::check_cluster)
        .map_err(|fields| ClusterTemplateError::Typed { file: file.file.clone(), fields })
}

/// The classes that the objects use and the management cluster lacks.
async fn classes_to_add(
    input: &ClusterTemplateInput<'_>,
    objects: &[Object],
) -> Result<Vec<ClusterClassName>, ManagementClusterError> {
    let mut classes = if input.release.is_some() { used_cluster_classes(objects) } else { Vec::new() };
    if let Some(cluster) = input.cluster {
        let mut missing = Vec::new();
        for class in classes {
            if !cluster.has_cluster_class(&class.namespace, &class.name).await? {
                missing.push(class);
            }
        }
        classes = missing;
    }
    Ok(classes)
}

async fn class_text(
    release: &Release<'_>,
    class: &ClusterClassName,
) -> Result<TemplateText, ClusterTemplateError> {
    release.read_text(&class.file()).await.map_err(|source| ClusterTemplateError::ClusterClass {
        class: class.clone(),
        source: Box::new(source),
    })
}

async fn render_class(
    input: &ClusterTemplateInput<'_>,
    class: &ClusterClassName,
    warnings: &mut Vec<String>,
) -> Result<Vec<Object>, ClusterTemplateError> {
    let Some(release) = input.release else { return Ok(Vec::new()) };
    let file = class_text(release, class).await?;
    let text = file.substitute(input.variables)?;
    move_to_namespace(&file, parse(input, &file, &text, warnings)?, &class.namespace)
}

async fn check_absent(
    cluster: &dyn ManagementCluster,
    class: &ClusterClassName,
    objects: &[Object],
) -> Result<(), ClusterTemplateError> {
    for object in objects {
        if cluster.has_object(object).await? {
            return Err(ClusterTemplateError::AlreadyExists {
                object: ObjectRef::of(object),
                class: class.name.clone(),
            });
        }
    }
    Ok(())
}

/// Adds missing variables of ClusterClasses to those of the template, so that one run reports all of them. Only classes
/// with known names are read. Other errors of their files are reported once all variables have values.
async fn missing_with_classes(input: &ClusterTemplateInput<'_>, mut missing: MissingValues) -> MissingValues {
    let Some(release) = input.release else { return missing };
    let partial_text = input.template.substitute_only_set(input.variables).ok();
    let objects =
        partial_text.and_then(|text| input.template.read_objects(&text).ok()).unwrap_or_default().objects;
    let classes: BTreeSet<_> = used_cluster_classes(&objects).into_iter().collect();
    for class in classes.iter().filter(|class| !class.name.is_empty() && !class.name.contains("${")) {
        let Ok(file) = class_text(release, class).await else { continue };
        if let Err(RenderTextError::Missing(more)) = file.substitute(input.variables) {
            missing.merge(more);
        }
    }
    missing
}

#[cfg(test)]
mod tests;
