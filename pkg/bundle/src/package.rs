//! What is published: the files of a release as one artifact.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use repository::Location;
use transport::{
    Context, Digest, Digester,
    address::shown_text,
    disk::{SharedFile, read_error},
    http::Content,
    names::check_file,
    registry::{Descriptor, MANIFEST, Manifest, Reference, Registry, TITLE},
};

use crate::BundleError;

/// The media types of artifacts as the operator publishes them: they say nothing, and tools that look at them expect
/// these.
/// Source: cluster-api-operator cmd/plugin/cmd/publish.go; the empty configuration is that of oras-go.
const FILE: &str = "application/vnd.test.file";
const ARTIFACT: &str = "application/vnd.acme.config";
/// What the settings in a bundle are.
pub(crate) const CONFIGURATION_ARTIFACT: &str = "application/vnd.capstan.bundle.configuration.v1";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
const EMPTY_BYTES: &[u8] = b"{}";
const EMPTY_BASE64: &str = "e30=";

const CREATED: &str = "org.opencontainers.image.created";

/// So much of a file is read at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// A file to publish.
#[derive(Clone, Debug)]
pub struct PackageFile {
    /// Its name in the artifact.
    pub name: String,
    /// Where its content is.
    pub content: PackageContent,
}

/// Where the content of a file is.
#[derive(Clone, Debug)]
pub enum PackageContent {
    /// In memory.
    Bytes(Bytes),
    /// On disk; read piece by piece, once for its digest and once when it is sent.
    Path(PathBuf),
}

/// Where an artifact goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageTarget {
    registry: String,
    repository: String,
    reference: Reference,
}

/// What a tag stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagState {
    /// Nothing yet.
    Free,
    /// This very artifact.
    Same,
    /// Another one.
    Other(Digest),
}

/// What becomes of a tag that stands for another artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingTag {
    /// It stays, and nothing is published.
    Keep,
    /// It stands for the new artifact from then on.
    Move,
}

/// An artifact, ready to be sent. The same files make the same artifact, byte by byte.
#[derive(Clone, Debug)]
pub struct Package {
    files: Vec<(PackageFile, Descriptor)>,
    manifest: Bytes,
    digest: Digest,
    artifact_type: &'static str,
}

impl PackageTarget {
    /// Reads `oci://{registry}/{repository}[:{tag}]`; the tag is a semantic version, `version` where there is none.
    /// # Errors
    /// [`Error::Location`]; [`BundleError::Target`] without a version, for a digest, or for `latest`.
    pub fn parse(target: &str, version: Option<&str>) -> Result<Self, BundleError> {
        let refuse = |reason| BundleError::PackageTarget { target: shown_text(target), reason };
        if !target.trim().starts_with("oci://") {
            return Err(refuse("it does not begin with `oci://`"));
        }
        let location = Location::parse(target, "", None)
            .map_err(|source| repository::Error::Location { url: shown_text(target), source })?;
        let Location::Oci(location) = location else { return Err(refuse("it is no registry")) };
        if location.digest.is_some() {
            return Err(refuse("a digest is what publishing gives, not where it goes"));
        }
        if target.trim().ends_with(":latest") {
            return Err(refuse("the newest release is found by its version; name the version as the tag"));
        }
        let tag = location.tag.as_deref().or(version);
        let tag = tag.ok_or_else(|| refuse("it has no tag; add the version, such as `:v1.2.3`"))?;
        let reference = Reference::of_version(tag);
        Ok(Self { registry: location.registry, repository: location.repository, reference })
    }

    /// `oci://{registry}/{repository}:{tag}`.
    pub fn address(&self) -> String {
        format!("oci://{}/{}:{}", self.registry, self.repository, self.reference)
    }
}

impl Package {
    /// Takes files, in any order. `created` is the time to write into the artifact, RFC 3339; with one, the artifact is
    /// another one each time.
    /// # Errors
    /// [`Error::UnsafeName`]; [`BundleError::DuplicateFile`]; [`BundleError::NothingToPack`]; [`Error::Read`].
    pub fn new(
        files: Vec<PackageFile>,
        annotations: BTreeMap<String, String>,
        created: Option<String>,
    ) -> Result<Self, BundleError> {
        Self::of_type(ARTIFACT, files, annotations, created)
    }

    /// The same with a type of its own.
    pub(crate) fn of_type(
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
            return Err(BundleError::NothingToPack);
        }
        let files: Vec<(PackageFile, Descriptor)> = files
            .into_iter()
            .map(|file| {
                let layer = layer_of(&file)?;
                Ok((file, layer))
            })
            .collect::<Result<_, BundleError>>()?;
        annotations.extend(created.map(|created| (CREATED.to_owned(), created)));
        let layers = files.iter().map(|(_, layer)| layer.clone()).collect();
        let manifest = manifest_of(artifact_type, layers, annotations);
        let manifest = serde_json::to_vec(&manifest).expect("texts and numbers can be written as JSON");
        let manifest = Bytes::from(manifest);
        Ok(Self { files, digest: Digest::of(&manifest), manifest, artifact_type })
    }

    /// Its type.
    pub(crate) fn artifact_type(&self) -> &'static str {
        self.artifact_type
    }

    /// The text of its manifest.
    pub(crate) fn manifest(&self) -> Bytes {
        self.manifest.clone()
    }

    /// Everything its manifest names.
    pub(crate) fn contents(&self) -> impl Iterator<Item = PackageContent> {
        let files = self.files.iter().map(|(file, _)| file.content.clone());
        files.chain([PackageContent::Bytes(Bytes::from_static(EMPTY_BYTES))])
    }

    /// Its digest, by which it can be pinned.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Its files by name, with digest and size in bytes.
    pub fn files(&self) -> impl Iterator<Item = (&str, Digest, u64)> {
        self.files.iter().map(|(file, layer)| (file.name.as_str(), layer.digest, layer.size))
    }

    /// What the tag of a target stands for now.
    /// # Errors
    /// Whatever stops the request.
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

    /// Sends what the registry does not have, the tag last. Gives what the tag stood for before.
    /// # Errors
    /// [`BundleError::TagTaken`], before anything is sent; whatever stops a request.
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
                return Err(BundleError::TagTaken { address, there, new: self.digest });
            }
            _ => {}
        }
        let repository = &target.repository;
        let mut sent = BTreeSet::new();
        for (file, layer) in &self.files {
            // Two files of the same content are one blob.
            if sent.insert(layer.digest) {
                registry.push_blob(repository, file.content.to_send(layer)?, &layer.digest).await?;
            }
        }
        let empty = Content::Bytes(Bytes::from_static(EMPTY_BYTES));
        registry.push_blob(repository, empty, &Digest::of(EMPTY_BYTES)).await?;
        let manifest = self.manifest.clone();
        registry.push_manifest(repository, &target.reference, MANIFEST, manifest).await?;
        Ok(before)
    }
}

impl PackageContent {
    fn to_send(&self, layer: &Descriptor) -> Result<Content, BundleError> {
        Ok(match self {
            Self::Bytes(bytes) => Content::Bytes(bytes.clone()),
            Self::Path(path) => {
                let file = SharedFile::open(path).map_err(|source| read_error(path, source))?;
                Content::Part { file, offset: 0, size_bytes: layer.size }
            }
        })
    }
}

fn layer_of(file: &PackageFile) -> Result<Descriptor, BundleError> {
    check_file(&file.name)?;
    let mut layer = match &file.content {
        PackageContent::Bytes(bytes) => Descriptor::of(FILE, bytes),
        PackageContent::Path(path) => measure(path)?,
    };
    layer.annotations.insert(TITLE.to_owned(), file.name.clone());
    Ok(layer)
}

fn measure(path: &Path) -> Result<Descriptor, BundleError> {
    let failed = |source| read_error(path, source);
    let mut file = File::open(path).map_err(failed)?;
    let (mut digester, mut size, mut piece) = (Digester::default(), 0, vec![0; PIECE_BYTES]);
    loop {
        let read = file.read(&mut piece).map_err(failed)?;
        if read == 0 {
            return Ok(Descriptor::new(FILE, digester.finish(), size));
        }
        digester.update(&piece[..read]);
        size += read as u64;
    }
}

fn manifest_of(
    artifact_type: &str,
    layers: Vec<Descriptor>,
    annotations: BTreeMap<String, String>,
) -> Manifest {
    let config = Descriptor { data: Some(EMPTY_BASE64.to_owned()), ..Descriptor::of(EMPTY, EMPTY_BYTES) };
    Manifest {
        schema_version: 2,
        media_type: Some(MANIFEST.to_owned()),
        artifact_type: Some(artifact_type.to_owned()),
        config,
        layers,
        subject: None,
        annotations,
    }
}

#[cfg(test)]
mod tests;
