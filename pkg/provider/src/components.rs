//! From the text of a components file to the objects that are installed.
//!
//! ```text
//! text ─► substitute ─► YAML ─► kustomization ─► typed round trip ─► images ─► Namespace object ─► namespace ─► patches ─►
//!      ─► labels ─► order
//! ```

use std::collections::BTreeMap;

use api::{ProviderId, output::Variable};
use bytes::Bytes;
use manifest::{
    Object,
    images::{self, InvalidImage},
    labels,
    namespace::{self, NamespaceError, SeveralNamespaces},
    order,
    provenance::Trace,
    typed::{self, TypedError},
};

use crate::{
    account::{CONFIGURATION, TARGET_NAMESPACE, TYPED, account},
    config::{ImageOverrides, Variables},
    customise::{Customisation, CustomisationError, customise},
    images::override_images,
    layer::{self, Layer, LayerError},
    template_text::{RenderTextError, TemplateText},
};

/// What goes into the components of one provider.
#[derive(Clone, Copy, Debug)]
pub struct ComponentsInput<'a> {
    /// Whose components they are.
    pub provider: &'a ProviderId,
    /// The components file as the repository has it.
    pub text: &'a TemplateText,
    /// Values for its variables.
    pub variables: &'a Variables<'a>,
    /// What to do with the variables.
    pub substitution: Substitution,
    /// Image overrides of the configuration.
    pub image_overrides: &'a ImageOverrides,
    /// Kustomization of the user; not laid over text whose variables are left as they are.
    pub layer: Option<&'a dyn Layer>,
    /// Patches of the configuration; none are applied to text whose variables are left as they are.
    pub customisations: &'a [Customisation],
    /// Namespace to install into; the file's own when absent.
    pub target_namespace: Option<&'a str>,
    /// Whether it is kept what sets the fields of the objects.
    pub trace: Trace,
}

/// What to do with `${NAME}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// Put the values in; a variable without one is an error.
    Full,
    /// Put the values in that there are: enough to see which images and kinds a provider brings.
    WhatIsSet,
    /// Leave all as it is written.
    None,
}

/// The objects of a provider, ready to be applied, with what was learned on the way.
#[derive(Clone, Debug)]
pub struct ProviderComponents {
    /// In the order they are applied.
    pub objects: Vec<Object>,
    /// By name.
    pub variables: Vec<Variable>,
    /// Of containers, then init containers, in object order; one used twice stands twice.
    pub images: Vec<String>,
    /// The namespace they are in.
    pub target_namespace: String,
    /// What the user should know although it did not stop the run.
    pub warnings: Vec<String>,
    /// The files of the layer, as [`Layered`](crate::Layered) has them.
    pub layer_files: BTreeMap<String, Bytes>,
}

/// Components that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ComponentsError {
    /// Substitution or YAML.
    #[error(transparent)]
    Text(#[from] RenderTextError),
    /// Images that cannot be read, of all containers.
    #[error("`{file}` names images that cannot be used: {}", list(images))]
    Images {
        /// Path or URL.
        file: String,
        /// Each with object, container and reason.
        images: Vec<InvalidImage>,
    },
    /// Objects of built-in kinds with fields of another type.
    #[error("`{file}` holds objects Kubernetes would not accept: {}", list(fields))]
    Typed {
        /// Path or URL.
        file: String,
        /// Each with object, field and expected type.
        fields: Vec<TypedError>,
    },
    /// More than one Namespace.
    #[error("cannot tell into which namespace `{file}` installs")]
    SeveralNamespaces {
        /// Path or URL.
        file: String,
        /// Their names.
        #[source]
        source: SeveralNamespaces,
    },
    /// References to namespaces that cannot be rewritten.
    #[error("cannot put the objects of `{file}` into namespace `{namespace}`: {}", list(references))]
    Namespace {
        /// Path or URL.
        file: String,
        /// The target.
        namespace: String,
        /// Each with object and field.
        references: Vec<NamespaceError>,
    },
    /// The kustomization of the user does not fit.
    #[error("cannot customise `{file}`")]
    Layer {
        /// Path or URL.
        file: String,
        /// Why.
        #[source]
        source: LayerError,
    },
    /// Patches of the configuration that do not fit.
    #[error("patches do not fit `{file}`: {}", list(patches))]
    Customisation {
        /// Path or URL.
        file: String,
        /// Each with its place.
        patches: Vec<CustomisationError>,
    },
    /// Neither the file nor the user names a namespace.
    #[error("`{file}` has no Namespace object, so the target namespace must be given")]
    NoTargetNamespace {
        /// Path or URL.
        file: String,
    },
}

pub(crate) fn list<E: std::error::Error>(errors: &[E]) -> String {
    let one = |error: &E| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    errors.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Makes the components of a provider.
/// Source: clusterctl v1.14 client/repository/components.go (NewComponents), with its order of steps.
/// # Errors
/// `Text` names every missing variable and every bad document; the others name objects and fields.
pub fn build_components(input: &ComponentsInput<'_>) -> Result<ProviderComponents, ComponentsError> {
    let file = || input.text.file.clone();
    let variables = input.text.variables(input.variables)?;
    let stream = read(input)?;
    let mut warnings = input.text.warnings(&stream);
    let mut objects = stream.objects;
    input.text.trace(input.trace, &mut objects);
    let mut layer_files = BTreeMap::new();
    if let Some(layer) = input.layer.filter(|_| input.substitution != Substitution::None) {
        let layered = layer::apply_to_components(layer, objects, &input.text.file)
            .map_err(|source| ComponentsError::Layer { file: file(), source })?;
        warnings.extend(layered.warnings);
        (objects, layer_files) = (layered.objects, layered.files);
    }

    round_trip(&input.text.file, &mut objects)?;
    account(input.trace, "", TYPED, &mut objects);
    let unused = override_images(input.image_overrides, &input.provider.label(), &mut objects)
        .map_err(|images| ComponentsError::Images { file: file(), images })?;
    warnings.extend(unused);
    account(input.trace, CONFIGURATION, "images", &mut objects);
    let own = namespace::target_namespace(&objects)
        .map_err(|source| ComponentsError::SeveralNamespaces { file: file(), source })?;
    let given = input.target_namespace.filter(|name| !name.is_empty());
    let Some(target_namespace) = given.or(own).map(str::to_owned) else {
        return Err(ComponentsError::NoTargetNamespace { file: file() });
    };
    namespace::ensure_namespace_object(&mut objects, &target_namespace);
    namespace::set_namespace(&mut objects, &target_namespace).map_err(|references| {
        ComponentsError::Namespace { file: file(), namespace: target_namespace.clone(), references }
    })?;
    account(input.trace, "", TARGET_NAMESPACE, &mut objects);

    if input.substitution != Substitution::None {
        customise(&mut objects, input.customisations)
            .map_err(|patches| ComponentsError::Customisation { file: file(), patches })?;
    }
    let images = objects.iter().flat_map(images::images_of).map(str::to_owned).collect();
    let labels = [(api::labels::PROVIDER, &*input.provider.label()), (api::labels::CLUSTERCTL, "")];
    for label in labels::add_labels(&mut objects, &labels) {
        let (object, key, found) = (label.object, label.key, label.found);
        warnings
            .push(format!("{}: label `{key}` of `{object}` is {found} and was left out: quote it", file()));
    }
    account(input.trace, "", "label of the provider", &mut objects);
    order::sort_for_installation(&mut objects);
    Ok(ProviderComponents { objects, variables, images, target_namespace, warnings, layer_files })
}

fn read(input: &ComponentsInput<'_>) -> Result<manifest::Stream, RenderTextError> {
    match input.substitution {
        Substitution::Full => input.text.read_objects(&input.text.substitute(input.variables)?),
        Substitution::WhatIsSet => {
            input.text.read_objects(&input.text.substitute_what_is_set(input.variables)?)
        }
        Substitution::None => input.text.read_objects(&input.text.text),
    }
}

fn round_trip(file: &str, objects: &mut [Object]) -> Result<(), ComponentsError> {
    each(objects, |object| typed::round_trip(object, typed::Kinds::Components))
        .map_err(|fields| ComponentsError::Typed { file: file.to_owned(), fields })
}

/// Does one thing with each object and keeps all that is wrong, so that one run tells it.
pub(crate) fn each<O, E>(
    objects: impl IntoIterator<Item = O>,
    act: impl Fn(O) -> Result<(), Vec<E>>,
) -> Result<(), Vec<E>> {
    let bad: Vec<E> = objects.into_iter().filter_map(|object| act(object).err()).flatten().collect();
    if bad.is_empty() { Ok(()) } else { Err(bad) }
}

#[cfg(test)]
mod tests;
