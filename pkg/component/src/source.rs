//! The sources of manifests: objects of Flux, URLs and Blueprints, and their artifacts.

mod archive;
mod fetch;

use apply::ObjectKey;
use chart::MemoryTree;
use manifest::{Object, Value};
use repository::RepositoryContext;
use serde_json::json;
use sha2::{Digest as _, Sha256};

pub use archive::{ArchiveError, unpack};
pub use fetch::{FetchError, OtherDigests, UnpackedArchives, fetch_artifact, http_state};

use crate::{
    ArtifactReference, BLUEPRINT_KIND, Component, GROUP, NamespacedReference, SourceReference,
    references::{ObjectReader, ReferenceError, named},
};

/// The API group of the sources of Flux.
const FLUX: &str = "source.toolkit.fluxcd.io";
/// The field of errors about sources.
const FIELD: &str = "spec.sourceRef";

/// The source of a Component as it is now.
#[derive(Clone, Debug)]
pub struct SourceState {
    /// The artifact of the source.
    pub artifact: ArtifactReference,
    /// The digest of the source object and its artifact; a Component restarts if the digest changes.
    pub digest: String,
    /// The files, if they are known, such as those of a Blueprint. `None` if the artifact must be fetched.
    pub files: Option<MemoryTree>,
}

/// Returns the object that a source refers to. `None` for a URL.
pub fn source_object(source: &SourceReference, namespace: &str) -> Option<ObjectKey> {
    let SourceReference {
        blueprint,
        http_repository: _,
        flux_git_repository,
        flux_oci_repository,
        flux_bucket,
        flux_helm_chart,
    } = source;
    let kinds: [(&Option<NamespacedReference>, &str, &str); 5] = [
        (flux_git_repository, FLUX, "GitRepository"),
        (flux_oci_repository, FLUX, "OCIRepository"),
        (flux_bucket, FLUX, "Bucket"),
        (flux_helm_chart, FLUX, "HelmChart"),
        (blueprint, GROUP, BLUEPRINT_KIND),
    ];
    kinds.into_iter().find_map(|(reference, group, kind)| {
        let reference = reference.as_ref()?;
        Some(ObjectKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: reference.namespace.clone().unwrap_or_else(|| namespace.to_owned()),
            name: reference.name.clone(),
        })
    })
}

/// True if two Components refer to the same source.
pub(crate) fn is_same_source(one: &Component, other: &Component) -> bool {
    let object = |of: &Component| source_object(&of.spec.source_ref, of.namespace());
    object(one) == object(other)
        && one.spec.source_ref.http_repository == other.spec.source_ref.http_repository
}

/// Reads the source object of a Component.
/// Source: component-operator 0.3 (`loadSourceReference`), whose texts these are.
/// # Errors
/// The object does not exist or is not ready. A later run may succeed.
pub async fn read_source(key: &ObjectKey, hub: &dyn ObjectReader) -> Result<SourceState, ReferenceError> {
    let found = find_source(key, hub).await?;
    let missing = || format!("{} not found", named(&key.group_kind(), &key.name));
    found.ok_or_else(|| ReferenceError::new(FIELD, missing()))
}

/// Reads the source of a Component as it is now: an object, or the answer of a URL.
/// # Errors
/// The source does not exist or is not ready. A later run may succeed.
pub(crate) async fn current_source(
    component: &Component,
    objects: &dyn ObjectReader,
    repositories: &RepositoryContext,
) -> Result<SourceState, ReferenceError> {
    let reference = &component.spec.source_ref;
    match (source_object(reference, component.namespace()), &reference.http_repository) {
        (Some(key), _) => read_source(&key, objects).await,
        (None, Some(repository)) => http_state(repository, repositories).await,
        (None, None) => Err(ReferenceError::new(FIELD, "missing source reference")),
    }
}

/// Reads the source object of a Component, like [`read_source`]. `None` if the object does not exist.
pub(crate) async fn find_source(
    key: &ObjectKey,
    hub: &dyn ObjectReader,
) -> Result<Option<SourceState>, ReferenceError> {
    let found = hub.read(key).await.map_err(|error| ReferenceError {
        source: Some(Box::new(error)),
        ..ReferenceError::new(FIELD, format!("cannot read {}", named(&key.group_kind(), &key.name)))
    })?;
    let Some(object) = found else { return Ok(None) };
    let problem = |problem: String| ReferenceError::new(FIELD, problem);
    if key.group == GROUP {
        return blueprint_state(&object).map(Some).map_err(problem);
    }
    let artifact = flux_artifact(&object).map_err(|text| problem(text.to_owned()))?;
    Ok(Some(SourceState { digest: reference_digest(&object, &artifact), artifact, files: None }))
}

/// Returns the artifact of a ready source of Flux.
fn flux_artifact(object: &Object) -> Result<ArtifactReference, &'static str> {
    let generation = object.get(&["metadata", "generation"]).and_then(Value::as_i64).unwrap_or_default();
    let observed = object.get(&["status", "observedGeneration"]).and_then(Value::as_i64);
    let conditions = object.get(&["status", "conditions"]).and_then(Value::as_array);
    let is_ready = |condition: &Value| {
        condition["type"] == "Ready"
            && condition["status"] == "True"
            && condition["observedGeneration"].as_i64().is_none_or(|observed| observed == generation)
    };
    let is_observed = observed.is_none_or(|observed| observed == generation);
    if !is_observed || !conditions.into_iter().flatten().any(is_ready) {
        return Err("source not ready");
    }
    let artifact = object.get(&["status", "artifact"]).filter(|artifact| artifact.is_object());
    let artifact = artifact.ok_or("missing artifact on ready source")?;
    let text = |name: &str| artifact[name].as_str().unwrap_or_default().to_owned();
    let artifact = ArtifactReference { url: text("url"), digest: text("digest"), revision: text("revision") };
    match () {
        () if artifact.url.is_empty() => Err("source not ready (missing URL)"),
        () if artifact.digest.is_empty() => Err("source not ready (missing digest)"),
        () if artifact.revision.is_empty() => Err("source not ready (missing revision)"),
        () => Ok(artifact),
    }
}

/// Returns the files of a Blueprint. Their digest is the digest and the revision of the artifact.
fn blueprint_state(object: &Object) -> Result<SourceState, String> {
    let files = object.get(&["spec", "files"]).and_then(Value::as_object);
    let files = files.ok_or("missing files on blueprint")?;
    let mut tree = Vec::new();
    for (path, content) in files {
        archive::check_path(path).map_err(|error| error.to_string())?;
        let content = content.as_str().ok_or_else(|| format!("file {path} of the blueprint is not text"))?;
        tree.push((path, content.as_bytes().to_vec()));
    }
    let digest = sha256(&json!(files));
    let artifact = ArtifactReference { url: String::new(), digest: digest.clone(), revision: digest };
    let files = archive::tree(tree).map_err(|error| error.to_string())?;
    Ok(SourceState { digest: reference_digest(object, &artifact), artifact, files: Some(files) })
}

/// Returns the digest of a source object and its artifact.
fn reference_digest(object: &Object, artifact: &ArtifactReference) -> String {
    let metadata = |name: &str| object.get(&["metadata", name]);
    sha256(&json!({
        "uid": metadata("uid"),
        "generation": metadata("generation"),
        "annotations": metadata("annotations"),
        "url": artifact.url,
        "digest": artifact.digest,
        "revision": artifact.revision,
    }))
}

/// Checks that the artifact is the one that the Component requires.
/// # Errors
/// The text of component-operator. A later run may succeed.
pub fn check_pins(component: &Component, artifact: &ArtifactReference) -> Result<(), ReferenceError> {
    let pins = [
        ("digest", &component.spec.digest, &artifact.digest),
        ("revision", &component.spec.revision, &artifact.revision),
    ];
    for (name, pinned, found) in pins {
        if let Some(pinned) = pinned.as_ref().filter(|pinned| !pinned.is_empty() && *pinned != found) {
            let problem = format!("source {name} ({found}) does not match specified {name} ({pinned})");
            return Err(ReferenceError::new(format!("spec.{name}"), problem));
        }
    }
    Ok(())
}

/// Returns the hex SHA-256 of a JSON value.
pub(crate) fn sha256(value: &Value) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(value.to_string()))
}

#[cfg(test)]
mod tests;
