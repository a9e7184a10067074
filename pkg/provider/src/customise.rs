//! What users change about the components of a provider: `providers[].patches` of `clusterctl.yaml`.
//!
//! ```text
//! patches:
//! - target: {kind: Deployment, name: capa-.*}   # regular expressions that match whole words; absent: see below
//!   patch: {spec: …}                            # strategic merge, or a list of JSON patch operations, or text of either
//! - replicas: 2                                 # or settings of the controllers, without a patch
//!   featureGates: {ClusterTopology: true}
//! ```
//!
//! A patch without a target is about the object whose kind and name it has; settings without a target are about every
//! workload with the container. What matches nothing is an error: it would be lost in silence with the next release.

mod settings;
mod target;

use crate::account::{CONFIGURATION, account};
use manifest::{
    Object, ObjectRef,
    patch::{Patch, PatchError, Patched},
    provenance::Trace,
};

pub use settings::ControllerSettings;
pub use target::{InvalidTarget, Target};

/// One entry of `patches`.
#[derive(Clone, Debug)]
pub struct Customisation {
    /// Where it stands, as `providers[1].patches[0]`.
    pub place: String,
    /// Which objects it is about.
    pub target: Target,
    /// What it does to them.
    pub change: Change,
}

/// What an entry does.
#[derive(Clone, Debug)]
pub enum Change {
    /// It patches objects.
    Patch(Patch),
    /// It sets what controllers are commonly set.
    Settings(Box<ControllerSettings>),
}

/// An entry that does not fit the components.
#[derive(Debug, thiserror::Error)]
pub enum CustomisationError {
    /// No object is meant by it.
    #[error("`{place}` matches no object: {target}")]
    NoMatch {
        /// Where it stands.
        place: String,
        /// What it is about, in words.
        target: String,
        /// Objects of the kind it names, or else all that could be meant.
        candidates: Vec<ObjectRef>,
    },
    /// The patch does not fit an object.
    #[error("`{place}` cannot be applied to {object}")]
    Patch {
        /// Where it stands.
        place: String,
        /// Which object.
        object: ObjectRef,
        /// Why.
        #[source]
        source: Box<PatchError>,
    },
    /// The patch makes another object of it.
    #[error("`{place}` makes {} of {}; a patch changes no kind, name or namespace", objects.1, objects.0)]
    Renames {
        /// Where it stands.
        place: String,
        /// The object, and what it would be.
        objects: Box<(ObjectRef, ObjectRef)>,
    },
}

/// Applies all entries in their order.
/// # Errors
/// Everything that does not fit; the objects are then of no use.
pub fn customise(
    objects: &mut Vec<Object>,
    customisations: &[Customisation],
) -> Result<(), Vec<CustomisationError>> {
    let mut errors = Vec::new();
    for customisation in customisations {
        let mut matched = false;
        objects.retain_mut(|object| {
            if !customisation.is_about(object) {
                return true;
            }
            matched = true;
            match customisation.apply(object) {
                Ok(patched) => patched == Patched::Stays,
                Err(error) => {
                    errors.push(error);
                    true
                }
            }
        });
        if !matched {
            errors.push(customisation.no_match(objects));
        }
        account(Trace::of(objects), CONFIGURATION, &customisation.place, objects.iter_mut());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

impl Customisation {
    fn is_about(&self, object: &Object) -> bool {
        self.target.matches(object)
            && match &self.change {
                Change::Patch(_) => true,
                Change::Settings(settings) => settings.fit(object),
            }
    }

    fn apply(&self, object: &mut Object) -> Result<Patched, CustomisationError> {
        let patch = match &self.change {
            Change::Settings(settings) => {
                settings.apply(object);
                return Ok(Patched::Stays);
            }
            Change::Patch(patch) => patch,
        };
        let before = ObjectRef::of(object);
        let patched = patch.apply(object).map_err(|source| CustomisationError::Patch {
            place: self.place.clone(),
            object: before.clone(),
            source: Box::new(source),
        })?;
        let after = ObjectRef::of(object);
        if patched == Patched::Stays && after != before {
            let objects = Box::new((before, after));
            return Err(CustomisationError::Renames { place: self.place.clone(), objects });
        }
        Ok(patched)
    }

    fn no_match(&self, objects: &[Object]) -> CustomisationError {
        let fits_kind = |object: &&Object| match &self.change {
            Change::Patch(_) => self.target.matches_kind(object),
            Change::Settings(_) => ControllerSettings::WORKLOADS.contains(&object.kind()),
        };
        let target = match &self.change {
            Change::Patch(_) => self.target.to_string(),
            Change::Settings(settings) => {
                format!("{} with a container `{}`", self.target, settings.container)
            }
        };
        let candidates = objects.iter().filter(fits_kind).map(ObjectRef::of).collect();
        CustomisationError::NoMatch { place: self.place.clone(), target, candidates }
    }
}

#[cfg(test)]
mod tests;
