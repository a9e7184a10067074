//! The user's kustomizations over rendered objects.
//!
//! This module defines where a [`Overlay`] is applied. Crates that read folders and fetch files implement the trait.

use std::{collections::BTreeMap, fmt, sync::Arc};

use api::ProviderId;
use bytes::Bytes;
use futures::future::LocalBoxFuture;
use manifest::{Object, ObjectRef};

/// A kustomization that can be built over objects.
pub trait Overlay: fmt::Debug + Send + Sync {
    /// The folder or url of the kustomization, as written.
    fn location(&self) -> &str;

    /// Builds the kustomization over the objects of a file, as if the objects were its first `resources`.
    /// # Errors
    /// All errors of the kustomization, including patches that match no object.
    fn apply(&self, objects: Vec<Object>, file: &str) -> Result<OverlayResult, OverlayError>;
}

/// A kustomization that is loaded on first use, because a run may not need its provider.
pub trait LazyOverlay: fmt::Debug + Send + Sync {
    /// The folder or url, as in [`Overlay::location`].
    fn location(&self) -> &str;

    /// Returns the kustomization. The first call fetches its remote parts. Errors are reported when the kustomization
    /// is applied.
    fn load(&self) -> LocalBoxFuture<'_, &dyn Overlay>;
}

/// The result of a kustomization.
#[derive(Clone, Debug, Default)]
pub struct OverlayResult {
    /// The objects, in order.
    pub objects: Vec<Object>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// All files of the kustomization. Local files are keyed by path relative to its folder, remote files by url and
    /// path.
    pub files: BTreeMap<String, Bytes>,
}

/// A failure to apply a kustomization.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum OverlayError {
    #[error("cannot apply the kustomization `{place}`: {}", problems.join("; "))]
    Build {
        place: String,
        /// The problems, each with the files that led to the problem.
        problems: Vec<String>,
        /// Instructions for files that could not be fetched.
        hints: Vec<String>,
    },
    #[error("the kustomization `{place}` removes every object")]
    RemovesEverything { place: String },
    /// Required definitions are missing or renamed. The provider cannot run without them.
    #[error(
        "the kustomization `{place}` removes definitions that the provider requires: {}",
        names(definitions)
    )]
    RemovesDefinitions { place: String, definitions: Vec<ObjectRef> },
    #[error("cannot use the kustomization `{place}`")]
    LockMismatch {
        place: String,
        #[source]
        source: Box<repository::Error>,
    },
}

/// The kustomizations of a run, by provider.
#[derive(Clone, Debug, Default)]
pub struct Overlays(BTreeMap<ProviderId, Arc<dyn LazyOverlay>>);

impl Overlays {
    /// An empty set of kustomizations.
    pub const fn none() -> &'static Self {
        const NONE: &Overlays = &Overlays(BTreeMap::new());
        NONE
    }

    /// Sets the kustomization over the components of a provider. Replaces an existing one.
    pub fn insert(&mut self, id: ProviderId, layer: Arc<dyn LazyOverlay>) {
        self.0.insert(id, layer);
    }

    /// The folder or url of the kustomization of a provider.
    pub fn location(&self, id: &ProviderId) -> Option<&str> {
        self.0.get(id).map(|layer| layer.location())
    }

    /// The kustomization of a provider, loaded if necessary.
    pub async fn get(&self, id: &ProviderId) -> Option<&dyn Overlay> {
        match self.0.get(id) {
            Some(layer) => Some(layer.load().await),
            None => None,
        }
    }
}

/// Applies a kustomization to the components of a provider.
pub(crate) fn apply_to_components(
    layer: &dyn Overlay,
    objects: Vec<Object>,
    file: &str,
) -> Result<OverlayResult, OverlayError> {
    let definitions: Vec<ObjectRef> =
        objects.iter().filter(|it| it.kind() == "CustomResourceDefinition").map(ObjectRef::of).collect();
    let result = apply(layer, objects, file)?;
    let is_gone = |wanted: &ObjectRef| !result.objects.iter().any(|it| ObjectRef::of(it) == *wanted);
    let missing: Vec<ObjectRef> = definitions.into_iter().filter(is_gone).collect();
    if missing.is_empty() {
        return Ok(result);
    }
    Err(OverlayError::RemovesDefinitions { place: layer.location().to_owned(), definitions: missing })
}

/// Applies a kustomization. A result without objects is an error.
pub(crate) fn apply(
    layer: &dyn Overlay,
    objects: Vec<Object>,
    file: &str,
) -> Result<OverlayResult, OverlayError> {
    let layered = layer.apply(objects, file)?;
    if layered.objects.is_empty() {
        return Err(OverlayError::RemovesEverything { place: layer.location().to_owned() });
    }
    Ok(layered)
}

fn names(objects: &[ObjectRef]) -> String {
    objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
