//! Applies image overrides to the objects of one component.

use manifest::{
    Object,
    images::{self, ImageReference, InvalidImage},
};

use crate::{
    components::try_each,
    config::{ArgumentImages, ImageOverrides},
};

/// Applies image overrides to the containers of a component, which is a provider label or `cert-manager`. If
/// configured, also replaces images named elsewhere. Returns warnings, for example about unused rules.
/// # Errors
/// One entry per container whose image is not a canonical reference.
pub fn override_images(
    overrides: &ImageOverrides,
    component: &str,
    objects: &mut [Object],
) -> Result<Vec<String>, Vec<InvalidImage>> {
    let found: Vec<_> = objects.iter().flat_map(images::find_images).collect();
    let references = found.iter().filter_map(|image| ImageReference::parse(&image.reference).ok());
    let warnings = overrides.unused(component, references).iter().map(ToString::to_string).collect();
    let rule = |image: &ImageReference<'_>| overrides.resolve(component, image);
    try_each(objects.iter_mut(), |object| images::override_images(object, &rule))?;
    if overrides.argument_images() == ArgumentImages::Rewrite {
        for object in objects {
            images::override_text_images(object, &rule);
        }
    }
    Ok(warnings)
}
