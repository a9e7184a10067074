use bytes::Bytes;
use transport::{
    Digest,
    registry::{Descriptor, ManifestDocument, Reference, Registry},
};

use super::{
    OciError,
    artifact::{is_packed, read_inner_manifest},
};
use crate::{Error, RepositoryContext, location::ArtifactReference};

/// The tag of a reference without tag and digest.
const DEFAULT_TAG: &str = "latest";

/// The packed files of an artifact, such as those of Flux and Helm.
#[derive(Clone, Debug)]
pub struct PackedArtifact {
    /// The gzipped tar archive.
    pub bytes: Bytes,
    /// The tag of the artifact. `None` for a reference by digest alone.
    pub tag: Option<String>,
    /// The digest of the manifest.
    pub digest: Digest,
}

/// Fetches the packed layer of an artifact: `oci://{registry}/{repository}[:{tag}][@{digest}]`.
/// # Errors
/// An invalid reference, an artifact without a packed layer, any failure of a request.
pub async fn fetch_packed(context: &RepositoryContext, reference: &str) -> Result<PackedArtifact, Error> {
    let text = reference.trim_start_matches("oci://");
    let place = || reference.to_owned();
    let parsed = ArtifactReference::parse(text)
        .map_err(|source| Error::ArtifactReference { reference: place(), source })?;
    let (registry, repository) = (Registry::new(parsed.registry, context), parsed.repository);
    let (tag, wanted) = match (parsed.tag, parsed.digest) {
        (tag, Some(digest)) => (tag, Reference::Digest(digest)),
        (tag, None) => {
            let tag = tag.unwrap_or(DEFAULT_TAG);
            (Some(tag), Reference::Tag(tag.to_owned()))
        }
    };
    let Some(found) = registry.manifest(repository, &wanted).await? else {
        // The error reports the missing artifact; the list of tags is optional.
        let available = registry.tags(repository).await.unwrap_or_default();
        return Err(Error::UnknownRelease { version: wanted.to_string(), place: place(), available });
    };
    let address = registry.address(repository, Some(&wanted));
    let manifest = match found.document {
        ManifestDocument::Manifest(manifest) => *manifest,
        ManifestDocument::Index(index) => match index.manifests.as_slice() {
            [only] => read_inner_manifest(&registry, repository, &address, only).await?,
            several => {
                let (label, found) = (place(), several.len());
                return Err(OciError::NotInIndex { address, label, found, titles: Vec::new() }.into());
            }
        },
    };
    let is_archive = |layer: &&Descriptor| is_packed(&layer.media_type);
    let Some(layer) = manifest.layers.iter().find(is_archive) else {
        return Err(OciError::NoFiles { address }.into());
    };
    let bytes = registry.small_blob(repository, layer).await?;
    Ok(PackedArtifact { bytes, tag: tag.map(str::to_owned), digest: found.digest })
}
