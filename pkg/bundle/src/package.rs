//! Publishes the files of a release as one artifact.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use repository::Location;
use transport::{
    Context, Digest, Digester,
    address::redact_text,
    disk::{SharedFile, read_error},
    http::RequestBody,
    names::check_file,
    registry::{Descriptor, MANIFEST_MEDIA_TYPE, Manifest, Reference, Registry, TITLE_ANNOTATION},
};

use crate::BundleError;

/// The media types that the operator uses for artifacts. They have no meaning, but tools that check media types expect
/// them.
/// Source: cluster-api-operator cmd/plugin/cmd/publish.go; the empty configuration is that of oras-go.
const FILE_MEDIA_TYPE: &str = "application/vnd.test.file";
const RELEASE_ARTIFACT: &str = "application/vnd.acme.config";
/// The artifact type of the settings in a bundle.
pub(crate) const CONFIGURATION_ARTIFACT: &str = "application/vnd.capstan.bundle.configuration.v1";
const EMPTY_MEDIA_TYPE: &str = "application/vnd.oci.empty.v1+json";
const EMPTY_BYTES: &[u8] = b"{}";
const EMPTY_BASE64: &str = "e30=";

const CREATED_ANNOTATION: &str = "org.opencontainers.image.created";

/// A file to publish.
#[derive(Clone, Debug)]
pub struct PackageFile {
    /// Name of the file in the artifact.
    pub name: String,
    /// Content of the file.
    pub content: PackageContent,
}

/// The content of a file.
#[derive(Clone, Debug)]
pub enum PackageContent {
    /// Content in memory.
    Bytes(Bytes),
    /// Content on disk. The file is read in pieces: once for its digest and once for the upload.
    Path(PathBuf),
}

/// The target of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageTarget {
    registry: String,
    repository: String,
    reference: Reference,
}

/// The state of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagState {
    /// The tag does not exist.
    Free,
    /// The tag points to this artifact.
    Same,
    /// The tag points to another artifact.
    Other(Digest),
}

/// The handling of a tag that points to another artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingTag {
    /// Keep the tag and publish nothing.
    Keep,
    /// Move the tag to the new artifact.
    Move,
}

/// An artifact, ready for upload. The same files always create an identical artifact.
#[derive(Clone, Debug)]
pub struct Package {
    files: Vec<(PackageFile, Descriptor)>,
    manifest: Bytes,
    digest: Digest,
    artifact_type: &'static str,
}

impl PackageTarget {
    /// Parses `oci://{registry}/{repository}[:{tag}]`. The tag is a semantic version; the default is `version`.
    /// # Errors
    /// [`repository::Error::Location`]; [`BundleError::PackageTarget`] without a version, for a digest, or for
    /// `latest`.
    pub fn parse(target: &str, version: Option<&str>) -> Result<Self, BundleError> {
        let refuse = |reason| BundleError::PackageTarget { target: redact_text(target), reason };
        if !target.trim().starts_with("oci://") {
            return Err(refuse("it must start with `oci://`"));
        }
        let location = Location::parse(target, "", None)
            .map_err(|source| repository::Error::Location { url: redact_text(target), source })?;
        let Location::Oci(location) = location else { return Err(refuse("it is not a registry")) };
        if location.digest.is_some() {
            return Err(refuse("it must not contain a digest"));
        }
        if target.trim().ends_with(":latest") {
            return Err(refuse("`latest` is not a version; use the version as the tag"));
        }
        let tag = location.tag.as_deref().or(version);
        let tag = tag.ok_or_else(|| refuse("it has no tag; add the version, such as `:v1.2.3`"))?;
        let reference = Reference::of_version(tag);
        Ok(Self { registry: location.registry, repository: location.repository, reference })
    }

    /// Returns the address, `oci://{registry}/{repository}:{tag}`.
    pub fn address(&self) -> String {
        format!("oci://{}/{}:{}", self.registry, self.repository, self.reference)
    }
}

impl Package {
    /// Creates an artifact from files in any order. `created` is an optional timestamp in the artifact, RFC 3339; with
    /// a timestamp, the artifact differs on each run.
    /// # Errors
    /// [`transport::Error::UnsafeName`]; [`BundleError::DuplicateFile`]; [`BundleError::NoFiles`];
    /// [`transport::Error::Read`].
    pub fn new(
        files: Vec<PackageFile>,
        annotations: BTreeMap<String, String>,
        created: Option<String>,
    ) -> Result<Self, BundleError> {
        Self::with_artifact_type(RELEASE_ARTIFACT, files, annotations, created)
    }

    /// Like [`Package::new`], with another artifact type.
    pub(crate) fn with_artifact_type(
        artifact_type: &'static str,
        mut files: Vec<PackageFile>,
        mut annotations: BTreeMap<String, String>,
        created: Option<String>,
    ) -> Result<Self, BundleError> {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some([twice, _]) = files.array_windows().find(|[a, b]| a.name == b.name) {
            return Err(BundleError::DuplicateFile { file: twice.name.clone() });
        }
        if files.is_empty() {
            return Err(BundleError::NoFiles);
        }
        let files: Vec<(PackageFile, Descriptor)> = files
            .into_iter()
            .map(|file| {
                let layer = layer_of(&file)?;
                Ok((file, layer))
            })
            .collect::<Result<_, BundleError>>()?;
        annotations.extend(created.map(|created| (CREATED_ANNOTATION.to_owned(), created)));
        let layers = files.iter().map(|(_, layer)| layer.clone()).collect();
        let manifest = manifest_of(artifact_type, layers, annotations);
        let manifest = serde_json::to_vec(&manifest).expect("texts and numbers can be written as JSON");
        let manifest = Bytes::from(manifest);
        Ok(Self { files, digest: Digest::of(&manifest), manifest, artifact_type })
    }

    /// Returns the artifact type.
    pub(crate) fn artifact_type(&self) -> &'static str {
        self.artifact_type
    }

    /// Returns the bytes of the manifest.
    pub(crate) fn manifest(&self) -> Bytes {
        self.manifest.clone()
    }

    /// Returns all content that the manifest refers to.
    pub(crate) fn contents(&self) -> impl Iterator<Item = PackageContent> {
        let files = self.files.iter().map(|(file, _)| file.content.clone());
        files.chain([PackageContent::Bytes(Bytes::from_static(EMPTY_BYTES))])
    }

    /// Returns the digest, which can pin the artifact.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the files by name, with digest and size in bytes.
    pub fn files(&self) -> impl Iterator<Item = (&str, Digest, u64)> {
        self.files.iter().map(|(file, layer)| (file.name.as_str(), layer.digest, layer.size))
    }

    /// Returns the state of the tag of a target.
    /// # Errors
    /// Fails if the request fails.
    pub async fn tag_state(
        &self,
        context: &Context,
        target: &PackageTarget,
    ) -> Result<TagState, BundleError> {
        let registry = Registry::new(&target.registry, context);
        let found = registry.manifest(&target.repository, &target.reference).await?;
        Ok(match found.map(|found| found.digest) {
            None => TagState::Free,
            Some(digest) if digest == self.digest => TagState::Same,
            Some(digest) => TagState::Other(digest),
        })
    }

    /// Uploads content that the registry does not have, and then the tag. Returns the state of the tag before the
    /// upload.
    /// # Errors
    /// [`BundleError::TagTaken`] before the first upload; errors of the requests.
    pub async fn publish(
        &self,
        context: &Context,
        target: &PackageTarget,
        existing: ExistingTag,
    ) -> Result<TagState, BundleError> {
        let registry = Registry::new(&target.registry, context);
        let before = self.tag_state(context, target).await?;
        match (before, existing) {
            (TagState::Same, _) => return Ok(before),
            (TagState::Other(there), ExistingTag::Keep) => {
                let address = target.address();
                return Err(BundleError::TagTaken { address, existing: there, new: self.digest });
            }
            _ => {}
        }
        let repository = &target.repository;
        let mut sent = BTreeSet::new();
        for (file, layer) in &self.files {
            // Two files with the same content are one blob.
            if sent.insert(layer.digest) {
                registry.push_blob(repository, file.content.upload_body(layer)?, &layer.digest).await?;
            }
        }
        let empty = RequestBody::Bytes(Bytes::from_static(EMPTY_BYTES));
        registry.push_blob(repository, empty, &Digest::of(EMPTY_BYTES)).await?;
        let manifest = self.manifest.clone();
        registry.push_manifest(repository, &target.reference, MANIFEST_MEDIA_TYPE, manifest).await?;
        Ok(before)
    }
}

impl PackageContent {
    fn upload_body(&self, layer: &Descriptor) -> Result<RequestBody, BundleError> {
        Ok(match self {
            Self::Bytes(bytes) => RequestBody::Bytes(bytes.clone()),
            Self::Path(path) => {
                let file = SharedFile::open(path).map_err(|source| read_error(path, source))?;
                RequestBody::Part { file, offset: 0, size_bytes: layer.size }
            }
        })
    }
}

fn layer_of(file: &PackageFile) -> Result<Descriptor, BundleError> {
    check_file(&file.name)?;
    let mut layer = match &file.content {
        PackageContent::Bytes(bytes) => Descriptor::of(FILE_MEDIA_TYPE, bytes),
        PackageContent::Path(path) => describe_file(path)?,
    };
    layer.annotations.insert(TITLE_ANNOTATION.to_owned(), file.name.clone());
    Ok(layer)
}

fn describe_file(path: &Path) -> Result<Descriptor, BundleError> {
    let (digest, size) =
        File::open(path).and_then(Digester::read).map_err(|source| read_error(path, source))?;
    Ok(Descriptor::new(FILE_MEDIA_TYPE, digest, size))
}

fn manifest_of(
    artifact_type: &str,
    layers: Vec<Descriptor>,
    annotations: BTreeMap<String, String>,
) -> Manifest {
    let config =
        Descriptor { data: Some(EMPTY_BASE64.to_owned()), ..Descriptor::of(EMPTY_MEDIA_TYPE, EMPTY_BYTES) };
    Manifest {
        schema_version: 2,
        media_type: Some(MANIFEST_MEDIA_TYPE.to_owned()),
        artifact_type: Some(artifact_type.to_owned()),
        config,
        layers,
        subject: None,
        annotations,
    }
}

#[cfg(test)]
mod tests;
