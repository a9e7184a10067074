//! Copies images from their registry to disk.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use repository::{Error, OciError};
use transport::{
    Context, Digest,
    registry::{Descriptor, FetchedManifest, Manifest, ManifestDocument, Platform, Reference, Registry},
};

use crate::{BundleError, ImageAddress, spool::Spool};

/// The number of layers of an image that are read concurrently.
const MAX_LAYERS_AT_ONCE: usize = 4;

/// The platforms of an image to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Platforms {
    /// All platforms of the image. The copy has the digest of the original.
    All,
    /// One platform, written as `linux/amd64` or `linux/arm/v7`.
    One(String),
}

impl Platforms {
    /// Returns the selected platform. None for all platforms.
    pub(super) fn selected(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::One(platform) => Some(platform),
        }
    }
}

/// A copy from a repository to the spool.
pub(super) struct ImageCopy<'a> {
    spool: &'a Spool,
    registry: Registry,
    repository: &'a str,
}

/// An image in the spool.
pub(super) struct CopiedImage {
    /// The copied manifest or index.
    pub(super) manifest: Descriptor,
    /// The digest that the reference resolves to.
    pub(super) digest: Digest,
    /// The signatures of the copied manifest or index.
    pub(super) signature: Option<Descriptor>,
}

/// Copies an image to the spool, with the signatures of the copied manifest or index.
pub(super) async fn copy_image(
    spool: &Spool,
    context: &Context,
    reference: &str,
    address: &ImageAddress,
    platforms: &Platforms,
) -> Result<CopiedImage, BundleError> {
    let copy = ImageCopy::new(spool, Registry::new(&address.registry, context), &address.repository);
    let missing = || BundleError::NoImage {
        reference: reference.to_owned(),
        platform: platforms.selected().map(str::to_owned),
    };
    let Some(found) = copy.registry.manifest(copy.repository, &address.reference()).await? else {
        return Err(missing());
    };
    let digest = found.digest;
    let kept = match (&found.document, platforms.selected()) {
        (ManifestDocument::Index(index), Some(platform)) => {
            let is_chosen = |it: &&Descriptor| it.platform.as_ref().is_some_and(|of| name_of(of) == platform);
            let chosen = index.manifests.iter().find(is_chosen).ok_or_else(missing)?;
            copy.copy_manifest(chosen).await?;
            Descriptor::new(&chosen.media_type, chosen.digest, chosen.size)
        }
        (ManifestDocument::Index(index), None) => {
            for manifest in &index.manifests {
                copy.copy_manifest(manifest).await?;
            }
            copy.store_manifest(&found)?
        }
        (ManifestDocument::Manifest(manifest), _) => {
            copy.copy_content(manifest).await?;
            copy.store_manifest(&found)?
        }
    };
    let signature = copy.copy_signature(&kept.digest).await?;
    Ok(CopiedImage { manifest: kept, digest, signature })
}

impl<'a> ImageCopy<'a> {
    pub(super) fn new(spool: &'a Spool, registry: Registry, repository: &'a str) -> Self {
        Self { spool, registry, repository }
    }

    /// Copies the signatures of a manifest, which cosign stores under a tag with its digest. None if the manifest is
    /// unsigned.
    pub(super) async fn copy_signature(&self, digest: &Digest) -> Result<Option<Descriptor>, BundleError> {
        let found = match self.registry.manifest(self.repository, &Reference::of_signature(digest)).await {
            Ok(Some(found)) => found,
            // Offline, the cache may have all other content, but the cache does not record that a signature is missing.
            Ok(None) | Err(transport::Error::Offline { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let ManifestDocument::Manifest(manifest) = &found.document else { return Ok(None) };
        self.copy_content(manifest).await?;
        self.store_manifest(&found).map(Some)
    }

    /// Copies a manifest of an index.
    async fn copy_manifest(&self, descriptor: &Descriptor) -> Result<(), BundleError> {
        let reference = Reference::Digest(descriptor.digest);
        let address = self.registry.address(self.repository, Some(&reference));
        let Some(found) = self.registry.manifest(self.repository, &reference).await? else {
            return Err(BundleError::NoImage { reference: address, platform: None });
        };
        let ManifestDocument::Manifest(manifest) = &found.document else {
            return Err(Error::from(OciError::NestedIndex { address }).into());
        };
        self.copy_content(manifest).await?;
        self.store_manifest(&found)?;
        Ok(())
    }

    /// Copies the layers and the configuration of a manifest.
    pub(super) async fn copy_content(&self, manifest: &Manifest) -> Result<(), BundleError> {
        let blobs = manifest.layers.iter().chain([&manifest.config]);
        let copies = blobs.filter(|blob| !self.spool.has(&blob.digest)).map(|blob| async move {
            let mut writer = self.spool.writer(blob.digest);
            self.registry.blob(self.repository, blob, &mut writer).await?;
            writer.commit()
        });
        stream::iter(copies).buffered(MAX_LAYERS_AT_ONCE).try_collect::<()>().await?;
        Ok(())
    }

    pub(super) fn store_manifest(&self, found: &FetchedManifest) -> Result<Descriptor, BundleError> {
        let digest = self.spool.add(&found.bytes)?;
        Ok(Descriptor::new(&found.media_type, digest, found.bytes.len() as u64))
    }
}

fn name_of(platform: &Platform) -> String {
    let Platform { os, architecture, variant } = platform;
    match variant {
        Some(variant) => format!("{os}/{architecture}/{variant}"),
        None => format!("{os}/{architecture}"),
    }
}
