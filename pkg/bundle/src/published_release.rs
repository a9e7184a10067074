//! Releases and charts that are already artifacts in a registry. They are copied unchanged, so that their signatures stay
//! valid.

use std::collections::BTreeMap;

use bytes::Bytes;
use repository::{Location, PublishedChart, RepositoryContext, find_published, find_published_chart};
use transport::{
    Context, Digest,
    registry::{Descriptor, Manifest, ManifestDocument, Registry},
};

use crate::{BundleError, BundleItem, BundleWriter, image::ImageCopy};

/// The form of a release or a chart in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseArtifact {
    /// The artifact of the registry, with its signatures.
    Original,
    /// A new, unsigned artifact with the files of the release.
    Repackaged,
}

impl BundleWriter {
    /// Adds the files of a release that were read from a URL. If the URL points to an artifact with exactly these
    /// files, the artifact is copied unchanged.
    /// # Errors
    /// Errors of [`BundleWriter::add_release`]; errors of the requests.
    pub async fn add_release_from(
        &self,
        context: &Context,
        url: &str,
        label: &str,
        version: &str,
        files: BTreeMap<String, Bytes>,
    ) -> Result<ReleaseArtifact, BundleError> {
        if let Ok(Location::Oci(location)) = Location::parse(url, label, None)
            && let Some(found) = find_published(&location, version, context).await?
            && let ManifestDocument::Manifest(manifest) = &found.document
            && has_exactly(manifest, &files)
        {
            for content in files.values() {
                self.spool().add(content)?;
            }
            let registry = Registry::new(&location.registry, context);
            let copy = ImageCopy::new(self.spool(), registry, &location.repository);
            copy.copy_content(manifest).await?;
            let descriptor =
                Descriptor { artifact_type: manifest.artifact_type.clone(), ..copy.store_manifest(&found)? };
            let signature = copy.copy_signature(&found.digest).await?;
            let item = BundleItem::Release { label: label.to_owned(), version: version.to_owned() };
            self.add_signed(item, descriptor, signature);
            return Ok(ReleaseArtifact::Original);
        }
        self.add_release(label, version, files)?;
        Ok(ReleaseArtifact::Repackaged)
    }

    /// Adds the archive of a chart. If its URL points to an artifact with this archive, the artifact is copied unchanged.
    /// # Errors
    /// Errors of [`BundleWriter::add_chart`]; errors of the requests.
    pub async fn add_chart_from(
        &self,
        context: &RepositoryContext,
        (url, version): (&str, &str),
        archive: &[u8],
        metadata: &[u8],
    ) -> Result<(), BundleError> {
        let found = find_published_chart(url, version, Digest::of(archive), context).await;
        let Some(PublishedChart { registry, repository, manifest: found }) = found.map_err(Box::new)? else {
            return self.add_chart(url, version, archive, metadata);
        };
        let ManifestDocument::Manifest(manifest) = &found.document else {
            return self.add_chart(url, version, archive, metadata);
        };
        let item = self.chart_item(url, version)?;
        self.spool().add(archive)?;
        let copy = ImageCopy::new(self.spool(), Registry::new(&registry, context), &repository);
        copy.copy_content(manifest).await?;
        let descriptor = copy.store_manifest(&found)?;
        let signature = copy.copy_signature(&found.digest).await?;
        self.add_signed(item, descriptor, signature);
        Ok(())
    }
}

/// True if an artifact contains exactly these files.
fn has_exactly(manifest: &Manifest, files: &BTreeMap<String, Bytes>) -> bool {
    let is_file = |layer: &Descriptor| {
        let file = layer.title().and_then(|title| files.get(title));
        file.is_some_and(|content| Digest::of(content) == layer.digest)
    };
    manifest.layers.len() == files.len() && manifest.layers.iter().all(is_file)
}
