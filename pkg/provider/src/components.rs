//! Renders a components file into the objects to install.
//!
//! ```text
//! text ─► substitute ─► YAML ─► kustomization ─► typed round trip of workloads ─► images ─► Namespace object ─►
//!      ─► namespace ─► typed round trip of other kinds ─► references to the namespace ─► patches ─► labels ─► order
//! ```

use std::collections::BTreeMap;

use api::{ProviderId, output::Variable};
use bytes::Bytes;
use manifest::{
    Object,
    images::{self, InvalidImage},
    labels,
    namespace::{self, AmbiguousNamespace, NamespaceError},
    order,
    provenance::Trace,
    typed::{self, TypedError},
};

use crate::{
    config::{ImageOverrides, Variables},
    customise::{Customisation, CustomisationError, apply_customisations},
    images::override_images,
    overlay::{self, Overlay, OverlayError},
    provenance::{CONFIGURATION, ROUND_TRIP, TARGET_NAMESPACE, record_provenance},
    template_text::{RenderTextError, TemplateText},
};

/// The input of [`build_components`].
#[derive(Clone, Copy, Debug)]
pub struct ComponentsInput<'a> {
    /// The provider of the components.
    pub provider: &'a ProviderId,
    /// The components file from the repository.
    pub text: &'a TemplateText,
    /// The values of variables.
    pub variables: &'a Variables<'a>,
    /// The substitution mode.
    pub substitution: Substitution,
    /// The configured image overrides.
    pub image_overrides: &'a ImageOverrides,
    /// The user's kustomization. Not applied with [`Substitution::None`].
    pub overlay: Option<&'a dyn Overlay>,
    /// The configured patches. Not applied with [`Substitution::None`].
    pub customisations: &'a [Customisation],
    /// The namespace to install into. If absent, the namespace of the file.
    pub target_namespace: Option<&'a str>,
    /// Controls recording of the origin of fields.
    pub trace: Trace,
}

/// The substitution mode for `${NAME}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// Replaces all variables. A variable without a value is an error.
    Full,
    /// Replaces variables that have values. Enough to determine the images and kinds of a provider.
    OnlySet,
    /// Leaves all variables as written.
    None,
}

/// The objects of a provider, ready to be applied, with metadata.
#[derive(Clone, Debug)]
pub struct ProviderComponents {
    /// The objects, in apply order.
    pub objects: Vec<Object>,
    /// The variables, sorted by name.
    pub variables: Vec<Variable>,
    /// Images of containers, then of init containers, in object order. An image used twice is listed twice.
    pub images: Vec<String>,
    /// The namespace of the objects.
    pub target_namespace: String,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The files of the kustomization, as in [`OverlayResult`](crate::OverlayResult).
    pub overlay_files: BTreeMap<String, Bytes>,
}

/// A failure to render components.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ComponentsError {
    #[error(transparent)]
    Text(#[from] RenderTextError),
    #[error("invalid images in `{file}`: {}", list(images))]
    Images { file: String, images: Vec<InvalidImage> },
    #[error("invalid objects in `{file}`: {}", list(fields))]
    Typed { file: String, fields: Vec<TypedError> },
    #[error("cannot determine the namespace of `{file}`")]
    SeveralNamespaces {
        file: String,
        #[source]
        source: AmbiguousNamespace,
    },
    #[error("cannot move the objects of `{file}` to namespace `{namespace}`: {}", list(references))]
    Namespace { file: String, namespace: String, references: Vec<NamespaceError> },
    #[error("cannot customise `{file}`")]
    Overlay {
        file: String,
        #[source]
        source: OverlayError,
    },
    #[error("cannot apply patches to `{file}`: {}", list(patches))]
    Customisation { file: String, patches: Vec<CustomisationError> },
    #[error("`{file}` has no Namespace object and no target namespace is set")]
    MissingTargetNamespace { file: String },
}

pub(crate) fn list<E: std::error::Error>(errors: &[E]) -> String {
    let one = |error: &E| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    errors.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Renders the components of a provider.
///
/// Source: clusterctl v1.14 client/repository/components.go (NewComponents), including the order of steps.
/// # Errors
/// `Text` with all missing variables or all invalid documents; other variants name objects and fields.
pub fn build_components(input: &ComponentsInput<'_>) -> Result<ProviderComponents, ComponentsError> {
    let file = || input.text.file.clone();
    let variables = input.text.variables(input.variables)?;
    let stream = read_objects(input)?;
    let mut warnings = input.text.warnings(&stream);
    let mut objects = stream.objects;
    input.text.trace(input.trace, &mut objects);
    let mut layer_files = BTreeMap::new();
    if let Some(layer) = input.overlay.filter(|_| input.substitution != Substitution::None) {
        let result = overlay::apply_to_components(layer, objects, &input.text.file)
            .map_err(|source| ComponentsError::Overlay { file: file(), source })?;
        warnings.extend(result.warnings);
        (objects, layer_files) = (result.objects, result.files);
    }

    round_trip(&input.text.file, typed::KindSet::Workloads, &mut objects)?;
    record_provenance(input.trace, "", ROUND_TRIP, &mut objects);
    let unused = override_images(input.image_overrides, &input.provider.label(), &mut objects)
        .map_err(|images| ComponentsError::Images { file: file(), images })?;
    warnings.extend(unused);
    record_provenance(input.trace, CONFIGURATION, "images", &mut objects);
    let own = namespace::target_namespace(&objects)
        .map_err(|source| ComponentsError::SeveralNamespaces { file: file(), source })?;
    let given = input.target_namespace.filter(|name| !name.is_empty());
    let Some(target_namespace) = given.or(own).map(str::to_owned) else {
        return Err(ComponentsError::MissingTargetNamespace { file: file() });
    };
    namespace::ensure_namespace_object(&mut objects, &target_namespace);
    let unmovable = |references| {
        let namespace = target_namespace.clone();
        ComponentsError::Namespace { file: file(), namespace, references }
    };
    namespace::set_namespace(&mut objects, &target_namespace).map_err(unmovable)?;
    record_provenance(input.trace, "", TARGET_NAMESPACE, &mut objects);
    round_trip(&input.text.file, typed::KindSet::References, &mut objects)?;
    record_provenance(input.trace, "", ROUND_TRIP, &mut objects);
    namespace::move_references(&mut objects, &target_namespace).map_err(unmovable)?;
    record_provenance(input.trace, "", TARGET_NAMESPACE, &mut objects);

    if input.substitution != Substitution::None {
        apply_customisations(&mut objects, input.customisations)
            .map_err(|patches| ComponentsError::Customisation { file: file(), patches })?;
    }
    let images = objects.iter().flat_map(images::images_of).map(str::to_owned).collect();
    let labels = [(api::labels::PROVIDER, &*input.provider.label()), (api::labels::CLUSTERCTL, "")];
    for label in labels::add_labels(&mut objects, &labels) {
        let (object, key, found) = (label.object, label.key, label.found);
        warnings.push(format!(
            "{}: label `{key}` of `{object}` is {found} and was dropped: quote the value",
            file()
        ));
    }
    record_provenance(input.trace, "", "provider label", &mut objects);
    order::sort_for_installation(&mut objects);
    Ok(ProviderComponents {
        objects,
        variables,
        images,
        target_namespace,
        warnings,
        overlay_files: layer_files,
    })
}

fn read_objects(input: &ComponentsInput<'_>) -> Result<manifest::ObjectStream, RenderTextError> {
    match input.substitution {
        Substitution::Full => input.text.read_objects(&input.text.substitute(input.variables)?),
        Substitution::OnlySet => input.text.read_objects(&input.text.substitute_only_set(input.variables)?),
        Substitution::None => input.text.read_objects(&input.text.text),
    }
}

fn round_trip(file: &str, kinds: typed::KindSet, objects: &mut [Object]) -> Result<(), ComponentsError> {
    try_each(objects, |object| typed::round_trip(object, kinds))
        .map_err(|fields| ComponentsError::Typed { file: file.to_owned(), fields })
}

/// Runs an action on each object and collects all errors, so that one run reports all of them.
pub(crate) fn try_each<O, E>(
    objects: impl IntoIterator<Item = O>,
    act: impl Fn(O) -> Result<(), Vec<E>>,
) -> Result<(), Vec<E>> {
    let bad: Vec<E> = objects.into_iter().filter_map(|object| act(object).err()).flatten().collect();
    if bad.is_empty() { Ok(()) } else { Err(bad) }
}

#[cfg(test)]
mod tests;
