//! Loads a bundle into a registry: the same artifacts and images, with the same digests.

use std::collections::BTreeSet;

use api::output::{LoadedContent, LoadedContentState};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use repository::{Location, chart_path};
use transport::{
    Context, Digest,
    registry::{Reference, Registry},
};

use crate::{Bundle, BundleEntry, BundleError, BundleItem, ImageAddress, layout::ExistingContent};

/// The number of concurrent uploads.
const MAX_BLOBS_AT_ONCE: usize = 4;

/// The target of a bundle in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryTarget {
    registry: String,
    /// Ends with a slash, or is empty.
    prefix: String,
}

struct RegistryUpload<'a> {
    bundle: &'a Bundle,
    registry: &'a Registry,
    /// Content that this run has sent, by repository.
    uploaded: BTreeSet<(String, Digest)>,
}

impl RegistryTarget {
    /// Reads `oci://{host}[/{prefix}]`.
    /// # Errors
    /// [`BundleError::Target`].
    pub fn parse(target: &str) -> Result<Self, BundleError> {
        let invalid = || BundleError::Target { target: transport::address::redact_text(target) };
        let rest = target.trim().strip_prefix("oci://").ok_or_else(invalid)?.trim_end_matches('/');
        // The checks are the same as for the URL of a provider.
        match Location::parse(&format!("oci://{rest}/x"), "", None) {
            Ok(Location::Oci(location)) if location.tag.is_none() && location.digest.is_none() => {
                let prefix = location.repository.strip_suffix('x').ok_or_else(invalid)?.to_owned();
                Ok(Self { registry: location.registry, prefix })
            }
            _ => Err(invalid()),
        }
    }

    /// Returns the URL of a provider.
    pub fn provider_url(&self, label: &str) -> String {
        format!("oci://{}/{}{label}", self.registry, self.prefix)
    }

    /// Returns the prefix that replaces a registry in image references.
    pub fn image_prefix(&self, registry: &str) -> String {
        format!("{}/{}{}", self.registry, self.prefix, registry_path(registry))
    }

    /// Returns repository and reference of an entry. None for entries that are not loaded into registries.
    fn destination(
        &self,
        bundle: &Bundle,
        entry: &BundleEntry,
    ) -> Result<Option<(String, Reference)>, BundleError> {
        Ok(match &entry.item {
            BundleItem::Configuration => None,
            BundleItem::Release { label, version } => {
                Some((format!("{}{label}", self.prefix), Reference::of_version(version)))
            }
            BundleItem::Chart { url, version } => {
                Some((format!("{}{}", self.prefix, chart_path(url)), Reference::of_version(version)))
            }
            BundleItem::Signature { signed_entry: of } => {
                let Some(signed) = bundle.find_signed(of) else { return Ok(None) };
                self.destination(bundle, signed)?
                    .map(|(repository, _)| (repository, Reference::of_signature(&signed.digest)))
            }
            BundleItem::Image { reference, .. } => {
                let ImageAddress { registry, repository, tag, digest } = ImageAddress::parse(reference)?;
                let repository = format!("{}{}/{repository}", self.prefix, registry_path(&registry));
                let tag = tag.or_else(|| digest.is_none().then(|| "latest".to_owned()));
                Some((repository, tag.map_or(Reference::Digest(entry.digest), Reference::Tag)))
            }
        })
    }
}

/// Returns the path for a registry. A path cannot contain the colon of a port or the brackets of an address.
fn registry_path(registry: &str) -> String {
    registry.replace([':', '[', ']'], "-").trim_matches('-').to_owned()
}

/// Uploads the releases, charts and images of a bundle. Existing content is not uploaded again.
///
/// Before the first upload, the whole bundle is verified and every tag is checked.
/// # Errors
/// Errors of [`Bundle::verify`]; [`BundleError::TagTaken`]; errors of the requests, wrapped in [`BundleError::UploadFailed`]
/// after uploads have started.
pub async fn load_into_registry(
    bundle: &Bundle,
    context: &Context,
    target: &RegistryTarget,
    existing: ExistingContent,
) -> Result<Vec<LoadedContent>, BundleError> {
    bundle.verify()?;
    let registry = Registry::new(&target.registry, context);
    let mut planned = Vec::new();
    for entry in bundle.entries() {
        let Some((repository, reference)) = target.destination(bundle, entry)? else { continue };
        let there = registry.manifest(&repository, &reference).await?.map(|found| found.digest);
        let address = registry.address(&repository, Some(&reference));
        let state = match there {
            None => LoadedContentState::New,
            Some(there) if there == entry.digest => LoadedContentState::Unchanged,
            // The site has its own signature under this tag, and tools at the site use that signature.
            Some(_) if existing == ExistingContent::Refuse && is_signature(&entry.item) => {
                LoadedContentState::Unchanged
            }
            Some(there) if existing == ExistingContent::Refuse => {
                return Err(BundleError::TagTaken { address, existing: there, new: entry.digest });
            }
            Some(_) => LoadedContentState::Replaced,
        };
        planned.push((entry, repository, reference, entry.item.loaded_content(address, state)));
    }
    let mut push = RegistryUpload { bundle, registry: &registry, uploaded: BTreeSet::new() };
    let mut loaded = Vec::new();
    for (entry, repository, reference, content) in planned {
        if content.state != LoadedContentState::Unchanged {
            let pushed = push.upload_entry(entry, &repository, &reference).await;
            let unsent = |source| BundleError::UploadFailed {
                address: content.place.clone(),
                source: Box::new(source),
            };
            pushed.map_err(unsent)?;
        }
        loaded.push(content);
    }
    Ok(loaded)
}

fn is_signature(item: &BundleItem) -> bool {
    matches!(item, BundleItem::Signature { .. })
}

impl RegistryUpload<'_> {
    /// Uploads content first, then manifests. An index follows its manifests.
    async fn upload_entry(
        &mut self,
        entry: &BundleEntry,
        repository: &str,
        reference: &Reference,
    ) -> Result<(), BundleError> {
        let mut unsent: Vec<Digest> = entry.blobs.iter().map(|blob| blob.digest).collect();
        unsent.retain(|digest| self.uploaded.insert((repository.to_owned(), *digest)));
        let sends = unsent.iter().map(|digest| self.upload_blob(repository, digest));
        stream::iter(sends).buffer_unordered(MAX_BLOBS_AT_ONCE).try_collect::<()>().await?;
        for manifest in &entry.manifests {
            let bytes = self.bundle.read(&manifest.digest)?;
            let by_digest = Reference::Digest(manifest.digest);
            let reference = if manifest.digest == entry.digest { reference } else { &by_digest };
            self.registry.push_manifest(repository, reference, &manifest.media_type, bytes).await?;
        }
        Ok(())
    }

    async fn upload_blob(&self, repository: &str, digest: &Digest) -> Result<(), BundleError> {
        Ok(self.registry.push_blob(repository, self.bundle.upload_body(digest)?, digest).await?)
    }
}
