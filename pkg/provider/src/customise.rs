//! The user's changes to the components of a provider: `providers[].patches` of `clusterctl.yaml`.
//!
//! ```text
//! patches:
//! - target: {kind: Deployment, name: capa-.*}   # regular expressions that match whole words; absent: see below
//!   patch: {spec: …}                            # strategic merge, or a list of JSON patch operations, or text of either
//! - replicas: 2                                 # or settings of the controllers, without a patch
//!   featureGates: {ClusterTopology: true}
//! ```
//!
//! A patch without a target applies to the object with its kind and name. Settings without a target apply to every
//! workload that has the container. An entry that matches no object is an error, because a new release could otherwise
//! disable the entry silently.

mod settings;
mod target;

use crate::provenance::{CONFIGURATION, record_provenance};
use manifest::{
    Object, ObjectRef,
    patch::{Patch, PatchError, PatchOutcome},
    provenance::Trace,
};

pub use settings::ControllerSettings;
pub use target::{CustomisationTarget, InvalidTarget};

/// One entry of `patches`.
#[derive(Clone, Debug)]
pub struct Customisation {
    /// The position of the entry, such as `providers[1].patches[0]`.
    pub config_path: String,
    /// The objects that the entry matches.
    pub target: CustomisationTarget,
    /// The change to each matched object.
    pub change: CustomisationChange,
}

/// The change of an entry.
#[derive(Clone, Debug)]
pub enum CustomisationChange {
    /// A patch.
    Patch(Patch),
    /// Common controller settings.
    Settings(Box<ControllerSettings>),
}

/// An entry that does not match the components.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CustomisationError {
    #[error("`{place}` matches no object: {target}")]
    NoMatch {
        place: String,
        target: String,
        /// For a patch, objects of the target kind. For settings, all workloads.
        candidates: Vec<ObjectRef>,
    },
    #[error("cannot apply `{place}` to {object}")]
    Patch {
        place: String,
        object: ObjectRef,
        #[source]
        source: Box<PatchError>,
    },
    #[error("`{place}` changes {} to {}; a patch cannot change kind, name or namespace", objects.0, objects.1)]
    Renamed {
        place: String,
        /// The original object, and the object after the patch.
        objects: Box<(ObjectRef, ObjectRef)>,
    },
}

/// Applies all entries in order.
/// # Errors
/// All errors of all entries. The objects must not be used in that case.
pub fn apply_customisations(
    objects: &mut Vec<Object>,
    customisations: &[Customisation],
) -> Result<(), Vec<CustomisationError>> {
    let mut errors = Vec::new();
    for customisation in customisations {
        let mut matched = false;
        objects.retain_mut(|object| {
            if !customisation.matches(object) {
                return true;
            }
            matched = true;
            match customisation.apply(object) {
                Ok(patched) => patched == PatchOutcome::Updated,
                Err(error) => {
                    errors.push(error);
                    true
                }
            }
        });
        if !matched {
            errors.push(customisation.no_match(objects));
        }
        record_provenance(Trace::of(objects), CONFIGURATION, &customisation.config_path, objects.iter_mut());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

impl Customisation {
    fn matches(&self, object: &Object) -> bool {
        self.target.matches(object)
            && match &self.change {
                CustomisationChange::Patch(_) => true,
                CustomisationChange::Settings(settings) => settings.matches(object),
            }
    }

    fn apply(&self, object: &mut Object) -> Result<PatchOutcome, CustomisationError> {
        let patch = match &self.change {
            CustomisationChange::Settings(settings) => {
                settings.apply(object);
                return Ok(PatchOutcome::Updated);
            }
            CustomisationChange::Patch(patch) => patch,
        };
        let before = ObjectRef::of(object);
        let patched = patch.apply(object).map_err(|source| CustomisationError::Patch {
            place: self.config_path.clone(),
            object: before.clone(),
            source: Box::new(source),
        })?;
        let after = ObjectRef::of(object);
        if patched == PatchOutcome::Updated && after != before {
            let objects = Box::new((before, after));
            return Err(CustomisationError::Renamed { place: self.config_path.clone(), objects });
        }
        Ok(patched)
    }

    fn no_match(&self, objects: &[Object]) -> CustomisationError {
        let fits_kind = |object: &&Object| match &self.change {
            CustomisationChange::Patch(_) => self.target.matches_kind(object),
            CustomisationChange::Settings(_) => ControllerSettings::WORKLOADS.contains(&object.kind()),
        };
        let target = match &self.change {
            CustomisationChange::Patch(_) => self.target.to_string(),
            CustomisationChange::Settings(settings) => {
                format!("{} with a container `{}`", self.target, settings.container)
            }
        };
        let candidates = objects.iter().filter(fits_kind).map(ObjectRef::of).collect();
        CustomisationError::NoMatch { place: self.config_path.clone(), target, candidates }
    }
}

#[cfg(test)]
mod tests;
