//! What a user lays over rendered objects: a kustomization or a component of their own.
//!
//! Whoever can read folders and fetch what they name makes the [`Layer`]s; here is only said where they go.

use std::{collections::BTreeMap, fmt, sync::Arc};

use api::ProviderId;
use bytes::Bytes;
use futures::future::LocalBoxFuture;
use manifest::{Object, ObjectRef};

/// A kustomization, ready to be built onto objects.
pub trait Layer: fmt::Debug + Send + Sync {
    /// Its folder or url, as it is written.
    fn place(&self) -> &str;

    /// Builds it onto the objects of a file, as if its `resources` began with them.
    /// # Errors
    /// Everything that is wrong with it, a patch that matches nothing included.
    fn apply(&self, objects: Vec<Object>, file: &str) -> Result<Layered, LayerError>;
}

/// A layer that nobody has looked at yet, for a run may not be about its provider.
pub trait LazyLayer: fmt::Debug + Send + Sync {
    /// As [`Layer::place`].
    fn place(&self) -> &str;

    /// The layer, with what it names elsewhere fetched; the first call waits for that. What is wrong with it is told when
    /// it is applied.
    fn ready(&self) -> LocalBoxFuture<'_, &dyn Layer>;
}

/// What came of a layer.
#[derive(Clone, Debug, Default)]
pub struct Layered {
    /// The objects, in their order.
    pub objects: Vec<Object>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// All files it was made of, by their path as seen from its folder; those from elsewhere by address and path.
    pub files: BTreeMap<String, Bytes>,
}

/// A layer that does not fit.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// It cannot be built onto the objects.
    #[error("the kustomization `{place}` does not fit: {}", problems.join("; "))]
    Build {
        /// Its folder or url.
        place: String,
        /// Each with the files that led there.
        problems: Vec<String>,
        /// What to do about that which could not be fetched.
        hints: Vec<String>,
    },
    /// Nothing is left.
    #[error("the kustomization `{place}` takes every object away")]
    Everything {
        /// Its folder or url.
        place: String,
    },
    /// Definitions are gone or renamed, without which the provider cannot run.
    #[error(
        "the kustomization `{place}` takes away what the provider cannot be without: {}",
        names(definitions)
    )]
    Definitions {
        /// Its folder or url.
        place: String,
        /// Those that are gone.
        definitions: Vec<ObjectRef>,
    },
    /// It is not what was reviewed.
    #[error("the kustomization `{place}` cannot be used")]
    NotAsLocked {
        /// Its folder or url.
        place: String,
        /// What is locked instead.
        #[source]
        source: Box<repository::Error>,
    },
}

/// The layers of a run, by provider.
#[derive(Clone, Debug, Default)]
pub struct Layers(BTreeMap<ProviderId, Arc<dyn LazyLayer>>);

impl Layers {
    /// No layers.
    pub const fn none() -> &'static Self {
        const NONE: &Layers = &Layers(BTreeMap::new());
        NONE
    }

    /// Lays one over the components of a provider, in place of the one there was.
    pub fn insert(&mut self, id: ProviderId, layer: Arc<dyn LazyLayer>) {
        self.0.insert(id, layer);
    }

    /// The folder or url of the layer of a provider.
    pub fn place(&self, id: &ProviderId) -> Option<&str> {
        self.0.get(id).map(|layer| layer.place())
    }

    /// The layer of a provider, ready to be applied.
    pub async fn get(&self, id: &ProviderId) -> Option<&dyn Layer> {
        match self.0.get(id) {
            Some(layer) => Some(layer.ready().await),
            None => None,
        }
    }
}

/// Applies a layer to the components of a provider.
pub(crate) fn apply_to_components(
    layer: &dyn Layer,
    objects: Vec<Object>,
    file: &str,
) -> Result<Layered, LayerError> {
    let definitions: Vec<ObjectRef> =
        objects.iter().filter(|it| it.kind() == "CustomResourceDefinition").map(ObjectRef::of).collect();
    let layered = apply(layer, objects, file)?;
    let is_gone = |wanted: &ObjectRef| !layered.objects.iter().any(|it| ObjectRef::of(it) == *wanted);
    let gone: Vec<ObjectRef> = definitions.into_iter().filter(is_gone).collect();
    if gone.is_empty() {
        return Ok(layered);
    }
    Err(LayerError::Definitions { place: layer.place().to_owned(), definitions: gone })
}

/// Applies a layer; one that leaves nothing is a slip.
pub(crate) fn apply(layer: &dyn Layer, objects: Vec<Object>, file: &str) -> Result<Layered, LayerError> {
    let layered = layer.apply(objects, file)?;
    if layered.objects.is_empty() {
        return Err(LayerError::Everything { place: layer.place().to_owned() });
    }
    Ok(layered)
}

fn names(objects: &[ObjectRef]) -> String {
    objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
