//! Components as the controller watches them: the parts that decide when a step is due.

use std::{
    borrow::Cow,
    collections::hash_map::DefaultHasher,
    hash::{Hash as _, Hasher as _},
};

use apply::ObjectKey;
use component::{
    ArtifactReference, Component, ComponentKey, ComponentReference, ComponentStatus, GROUP, HttpRepository,
    KIND, SourceReference, State, source_object,
};
use kube::{
    Resource,
    api::ObjectMeta,
    core::NamespaceResourceScope,
    runtime::{Predicate as _, predicates, reflector::ObjectRef},
};
use manifest::{Map, Object, Value};
use serde::{Deserialize, de::DeserializeOwned};

/// The annotation in which kubectl keeps a copy of the object. Its changes also change the generation.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A Component without the parts that are only read by steps, such as values and the inventory.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub(crate) struct WatchedComponent {
    metadata: ObjectMeta,
    pub(crate) source: Option<WatchedSource>,
    pub(crate) dependencies: Vec<ComponentKey>,
    /// False if the dependencies are invalid, so that they may name any Component.
    pub(crate) has_readable_dependencies: bool,
    pub(crate) state: Option<State>,
    /// Digest and revision of the artifact of the last step.
    attempted: (String, String),
    observed_generation: i64,
    /// The whole Component before its first step, so that the step need not read it.
    pub(crate) first: Option<Box<Component>>,
}

/// The source of a Component.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WatchedSource {
    Object(ObjectKey),
    Url(HttpRepository),
}

/// Every part except for the metadata may be invalid: one invalid Component must not stop the watch of all others.
impl TryFrom<Map<String, Value>> for WatchedComponent {
    type Error = serde_json::Error;

    fn try_from(mut object: Map<String, Value>) -> Result<Self, Self::Error> {
        let whole: ObjectMeta = serde_json::from_value(object.get("metadata").cloned().unwrap_or_default())?;
        let mut annotations = whole.annotations;
        if let Some(annotations) = &mut annotations {
            annotations.remove(LAST_APPLIED);
        }
        let metadata = ObjectMeta {
            name: whole.name,
            namespace: whole.namespace,
            uid: whole.uid,
            generation: whole.generation,
            resource_version: whole.resource_version,
            deletion_timestamp: whole.deletion_timestamp,
            annotations,
            ..ObjectMeta::default()
        };
        let status: ComponentStatus = read(object.get("status"));
        let spec = object.get("spec").unwrap_or(&Value::Null);
        let source: SourceReference = read(spec.get("sourceRef"));
        let dependencies = spec.get("dependencies").map(Vec::<ComponentReference>::deserialize).transpose();
        let has_readable_dependencies = dependencies.is_ok();
        let dependencies = dependencies.ok().flatten().unwrap_or_default();
        let namespace = metadata.namespace.clone().unwrap_or_default();
        let first = (status.observed_generation <= 0)
            .then(|| Component::from_server(Object::from_map(std::mem::take(&mut object))).ok())
            .flatten();
        Ok(Self {
            source: source_object(&source, &namespace)
                .map(WatchedSource::Object)
                .or(source.http_repository.map(WatchedSource::Url)),
            dependencies: dependencies
                .iter()
                .map(|one| ComponentKey::of_dependency(one, &namespace))
                .collect(),
            has_readable_dependencies,
            state: status.state,
            attempted: (status.last_attempted_digest, status.last_attempted_revision),
            observed_generation: status.observed_generation,
            first: first.map(Box::new),
            metadata,
        })
    }
}

impl WatchedComponent {
    pub(crate) fn key(&self) -> ComponentKey {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        ComponentKey { namespace: text(&self.metadata.namespace), name: text(&self.metadata.name) }
    }

    pub(crate) fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// True if this revision shows that a Component is being deleted, and not a former one of the same name.
    pub(crate) fn is_deletion_of(&self, component: &Component) -> bool {
        let uid = component.metadata.get("uid").and_then(Value::as_str);
        self.is_deleting() && self.metadata.uid.as_deref() == uid
    }

    /// Returns the digest of the properties whose change needs a step.
    pub(crate) fn trigger(&self) -> Option<u64> {
        let life = |component: &Self| {
            let mut hasher = DefaultHasher::new();
            (&component.metadata.uid, component.is_deleting()).hash(&mut hasher);
            Some(hasher.finish())
        };
        predicates::generation.combine(predicates::annotations).combine(life).hash_property(self)
    }

    /// True if the last step attempted this artifact.
    pub(crate) fn has_attempted(&self, artifact: &ArtifactReference) -> bool {
        (&self.attempted.0, &self.attempted.1) == (&artifact.digest, &artifact.revision)
    }

    /// True if this revision became ready after another one, or became ready with another artifact.
    pub(crate) fn became_ready_after(&self, former: &Self) -> bool {
        self.is_ready() && !(former.is_ready() && former.attempted == self.attempted)
    }

    fn is_ready(&self) -> bool {
        self.state == Some(State::Ready) && Some(self.observed_generation) == self.metadata.generation
    }
}

impl Resource for WatchedComponent {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1alpha1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "components".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Returns the reference to a Component in the library of watches.
pub(crate) fn object_ref(key: &ComponentKey) -> ObjectRef<WatchedComponent> {
    ObjectRef::new(&key.name).within(&key.namespace)
}

/// Reads a part of an object. An invalid part is as if it were absent.
fn read<T: DeserializeOwned + Default>(part: Option<&Value>) -> T {
    part.and_then(|part| T::deserialize(part).ok()).unwrap_or_default()
}
