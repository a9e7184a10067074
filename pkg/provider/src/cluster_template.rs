//! From the text of a cluster template to the objects of a workload cluster, ClusterClasses included.

mod layered;

use std::collections::BTreeSet;

use manifest::{
    Object, ObjectRef,
    namespace::{self, NamespaceError},
    provenance::Trace,
    typed::{self, TypedError},
};

use crate::{
    account::{TARGET_NAMESPACE, TYPED, account},
    cluster_class::{ClusterClassName, cluster_classes_of},
    components::{each, list},
    config::Variables,
    layer::{Layer, LayerError},
    management_cluster::{ManagementCluster, ManagementClusterError},
    release::{Release, ReleaseError},
    template_text::{MissingValues, RenderTextError, TemplateText},
};

/// What goes into the objects of a workload cluster.
#[derive(Clone, Copy)]
pub struct ClusterTemplateInput<'a> {
    /// The template.
    pub template: &'a TemplateText,
    /// Values for its variables.
    pub variables: &'a Variables<'a>,
    /// The namespace all objects go to, whatever the template says.
    pub target_namespace: &'a str,
    /// The release the template comes from, which has its ClusterClasses too; none for other templates.
    pub release: Option<&'a Release<'a>>,
    /// Kustomization of the user, laid over the template and its ClusterClasses together.
    pub layer: Option<&'a dyn Layer>,
    /// The management cluster, which may have the ClusterClasses already.
    pub cluster: Option<&'a dyn ManagementCluster>,
    /// Whether it is kept what sets the fields of the objects.
    pub trace: Trace,
}

/// The objects of a workload cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterTemplate {
    /// ClusterClasses first, then the template's, each in file order.
    pub objects: Vec<Object>,
    /// The classes that were added.
    pub added_classes: Vec<ClusterClassName>,
    /// What the user should know although it did not stop the run.
    pub warnings: Vec<String>,
}

/// A template that could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum ClusterTemplateError {
    /// Substitution or YAML.
    #[error(transparent)]
    Text(#[from] RenderTextError),
    /// An object whose namespace cannot be rewritten.
    #[error("cannot put the objects of `{file}` into namespace `{namespace}`: {}", list(references))]
    Namespace {
        /// Path or URL.
        file: String,
        /// The target.
        namespace: String,
        /// Each with object and field.
        references: Vec<NamespaceError>,
    },
    /// Objects of built-in kinds with fields of another type.
    #[error("`{file}` holds objects Kubernetes would not accept: {}", list(fields))]
    Typed {
        /// Path or URL.
        file: String,
        /// Each with object, field and expected type.
        fields: Vec<TypedError>,
    },
    /// The kustomization of the user does not fit.
    #[error("cannot customise `{file}`")]
    Layer {
        /// Path or URL of the template.
        file: String,
        /// Why.
        #[source]
        source: LayerError,
    },
    /// A ClusterClass that the release does not have.
    #[error("cannot read ClusterClass `{}/{}`, which the template uses", class.namespace, class.name)]
    ClusterClass {
        /// The class.
        class: ClusterClassName,
        /// Where it was looked for.
        #[source]
        source: Box<ReleaseError>,
    },
    /// The management cluster gave no answer.
    #[error(transparent)]
    ManagementCluster(#[from] ManagementClusterError),
    /// An object that belongs to a class is there without the class.
    #[error("{object} of ClusterClass `{class}` is already in the cluster, the class is not")]
    AlreadyExists {
        /// What is there.
        object: ObjectRef,
        /// Name of the class.
        class: String,
    },
}

/// Renders a cluster template.
/// Source: clusterctl v1.14 client/config.go and client/clusterclass.go.
/// differs: variables that the template and its ClusterClasses miss are told together.
/// # Errors
/// `Text` with every missing variable of all files; the others name object or class.
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
    let written = parse(input, input.template, &text, &mut rendered.warnings)?;
    let mut objects = place(input.template, written.clone(), input.target_namespace)?;
    if input.release.is_some() {
        check_clusters(input.template, &objects)?;
    }
    let classes = classes_to_add(input, &objects).await?;
    if let Some(layer) = input.layer {
        return layered::render(input, layer, written, classes, rendered).await;
    }
    for class in classes {
        let mut class_objects = render_class(input, &class, &mut rendered.warnings).await?;
        if let Some(cluster) = input.cluster {
            refuse_existing(cluster, &class, &class_objects).await?;
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

/// Puts objects into a namespace, in the form the peer gives them.
fn place(
    file: &TemplateText,
    mut objects: Vec<Object>,
    target_namespace: &str,
) -> Result<Vec<Object>, ClusterTemplateError> {
    let trace = Trace::of(&objects);
    round_trip(file, &mut objects)?;
    account(trace, "", TYPED, &mut objects);
    namespace::set_namespace(&mut objects, target_namespace).map_err(|references| {
        ClusterTemplateError::Namespace {
            file: file.file.clone(),
            namespace: target_namespace.to_owned(),
            references,
        }
    })?;
    account(trace, "", TARGET_NAMESPACE, &mut objects);
    Ok(objects)
}

/// Bindings, webhooks and CRDs are decoded on the way to their new namespace; a template keeps its Deployments as they
/// are written, because no image of theirs is looked at.
fn round_trip(file: &TemplateText, objects: &mut [Object]) -> Result<(), ClusterTemplateError> {
    each(objects, |object| typed::round_trip(object, typed::Kinds::Template))
        .map_err(|fields| ClusterTemplateError::Typed { file: file.file.clone(), fields })
}

/// The classes of a Cluster can only be told when its topology is what it should be; the peer checks all of a Cluster,
/// and only in templates of providers.
fn check_clusters(file: &TemplateText, objects: &[Object]) -> Result<(), ClusterTemplateError> {
    each(objects, typed::check_cluster)
        .map_err(|fields| ClusterTemplateError::Typed { file: file.file.clone(), fields })
}

/// The classes the objects use and the management cluster does not have.
async fn classes_to_add(
    input: &ClusterTemplateInput<'_>,
    objects: &[Object],
) -> Result<Vec<ClusterClassName>, ManagementClusterError> {
    let mut classes = if input.release.is_some() { cluster_classes_of(objects) } else { Vec::new() };
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
    place(&file, parse(input, &file, &text, warnings)?, &class.namespace)
}

async fn refuse_existing(
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

/// Adds what the ClusterClasses of an incomplete template miss, as far as their names can be told already, so that one
/// run tells all. What else is wrong with those files is told by the run that has all values.
async fn missing_with_classes(input: &ClusterTemplateInput<'_>, mut missing: MissingValues) -> MissingValues {
    let Some(release) = input.release else { return missing };
    let known = input.template.substitute_what_is_set(input.variables).ok();
    let objects = known.and_then(|text| input.template.read_objects(&text).ok()).unwrap_or_default().objects;
    let classes: BTreeSet<_> = cluster_classes_of(&objects).into_iter().collect();
    for class in classes.iter().filter(|class| !class.name.is_empty() && !class.name.contains("${")) {
        let Ok(file) = class_text(release, class).await else { continue };
        if let Err(RenderTextError::Missing(more)) = file.substitute(input.variables) {
            missing.join(more);
        }
    }
    missing
}

#[cfg(test)]
mod tests;
