//! A bundle into a registry: the same artifacts and images, by digest.

use std::{collections::BTreeSet, io::Write as _, path::PathBuf};

use bytes::Bytes;
use tempfile::NamedTempFile;

use super::{Bundle, BundleEntry, BundleError, BundleItem, Existing, ImagePlace, LoadedState};
use crate::{
    Context, Digest, Error, Location, OciError,
    http::Content,
    oci::{Reference, Registry, manifest::Descriptor, signature_tag, tag_of},
};

/// Content up to this size is sent from memory; what is larger goes through a file.
const IN_MEMORY_BYTES: u64 = 1024 * 1024;

/// Where in a registry a bundle goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryTarget {
    registry: String,
    /// With a slash behind it, or empty.
    prefix: String,
}

/// One thing in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedArtifact {
    /// What it is.
    pub item: BundleItem,
    /// Its address.
    pub address: String,
    /// Its digest.
    pub digest: Digest,
    /// What was done.
    pub state: LoadedState,
}

struct Push<'a> {
    bundle: &'a Bundle,
    registry: &'a Registry,
    /// What is in which repository already, by this run.
    sent: BTreeSet<(String, Digest)>,
}

impl RegistryTarget {
    /// Reads `oci://{host}[/{prefix}]`.
    /// # Errors
    /// [`BundleError::Target`].
    pub fn parse(target: &str) -> Result<Self, BundleError> {
        let invalid = || BundleError::Target { target: crate::shown_text(target) };
        let rest = target.trim().strip_prefix("oci://").ok_or_else(invalid)?.trim_end_matches('/');
        // As the url of a provider below it will be.
        match Location::parse(&format!("oci://{rest}/x"), "", None) {
            Ok(Location::Oci(location)) if location.tag.is_none() && location.digest.is_none() => {
                let prefix = location.repository.strip_suffix('x').ok_or_else(invalid)?.to_owned();
                Ok(Self { registry: location.registry, prefix })
            }
            _ => Err(invalid()),
        }
    }

    /// The url of a provider.
    pub fn provider_url(&self, label: &str) -> String {
        format!("oci://{}/{}{label}", self.registry, self.prefix)
    }

    /// What stands in place of a registry in references of images.
    pub fn image_prefix(&self, registry: &str) -> String {
        format!("{}/{}{}", self.registry, self.prefix, of_registry(registry))
    }

    /// The repository of an entry, and how it is called there; none for what no registry needs.
    fn place(
        &self,
        bundle: &Bundle,
        entry: &BundleEntry,
    ) -> Result<Option<(String, Reference)>, BundleError> {
        Ok(match &entry.item {
            BundleItem::Configuration => None,
            BundleItem::Release { label, version } => {
                Some((format!("{}{label}", self.prefix), Reference::Tag(tag_of(version))))
            }
            BundleItem::Signature { of } => {
                let Some(signed) = bundle.signed(of) else { return Ok(None) };
                self.place(bundle, signed)?.map(|(repository, _)| (repository, signature_tag(&signed.digest)))
            }
            BundleItem::Image { reference, .. } => {
                let ImagePlace { registry, repository, tag, digest } = ImagePlace::parse(reference)?;
                let repository = format!("{}{}/{repository}", self.prefix, of_registry(&registry));
                let tag = tag.or_else(|| digest.is_none().then(|| "latest".to_owned()));
                Some((repository, tag.map_or(Reference::Digest(entry.digest), Reference::Tag)))
            }
        })
    }
}

/// A path cannot have the colon of a port, nor the brackets of an address.
fn of_registry(registry: &str) -> String {
    registry.replace([':', '[', ']'], "-").trim_matches('-').to_owned()
}

/// Sends the releases and images of a bundle. All of the bundle is verified, and every tag looked at, before anything is
/// sent; what is there already is not sent again.
/// # Errors
/// As [`Bundle::verify`]; [`OciError::TagTaken`]; whatever stops a request, within [`BundleError::Unsent`] once something
/// may have been sent.
pub async fn load_into_registry(
    bundle: &Bundle,
    context: &Context,
    target: &RegistryTarget,
    existing: Existing,
) -> Result<Vec<LoadedArtifact>, BundleError> {
    bundle.verify()?;
    let registry = Registry::new(&target.registry, context);
    let mut planned = Vec::new();
    for entry in bundle.entries() {
        let Some((repository, reference)) = target.place(bundle, entry)? else { continue };
        let there = registry.manifest(&repository, &reference).await?.map(|found| found.digest);
        let address = registry.address(&repository, Some(&reference));
        let state = match there {
            None => LoadedState::New,
            Some(there) if there == entry.digest => LoadedState::Unchanged,
            // Somebody at the site has signed it too; theirs is what the site looks at.
            Some(_) if existing == Existing::Refuse && is_signature(&entry.item) => LoadedState::Unchanged,
            Some(there) if existing == Existing::Refuse => {
                return Err(Error::from(OciError::TagTaken { address, there, new: entry.digest }).into());
            }
            Some(_) => LoadedState::Replaced,
        };
        let loaded = LoadedArtifact { item: entry.item.clone(), address, digest: entry.digest, state };
        planned.push((entry, repository, reference, loaded));
    }
    let mut push = Push { bundle, registry: &registry, sent: BTreeSet::new() };
    let mut loaded = Vec::new();
    for (entry, repository, reference, artifact) in planned {
        if artifact.state != LoadedState::Unchanged {
            let pushed = push.entry(entry, &repository, &reference).await;
            let unsent =
                |source| BundleError::Unsent { address: artifact.address.clone(), source: Box::new(source) };
            pushed.map_err(unsent)?;
        }
        loaded.push(artifact);
    }
    Ok(loaded)
}

fn is_signature(item: &BundleItem) -> bool {
    matches!(item, BundleItem::Signature { .. })
}

impl Push<'_> {
    /// Content first, then manifests, each after those it names.
    async fn entry(
        &mut self,
        entry: &BundleEntry,
        repository: &str,
        reference: &Reference,
    ) -> Result<(), BundleError> {
        for blob in &entry.blobs {
            if self.sent.insert((repository.to_owned(), blob.digest)) {
                self.blob(repository, blob).await?;
            }
        }
        for manifest in &entry.manifests {
            let bytes = self.bundle.read(&manifest.digest)?;
            let by_digest = Reference::Digest(manifest.digest);
            let reference = if manifest.digest == entry.digest { reference } else { &by_digest };
            self.registry.push_manifest(repository, reference, &manifest.media_type, bytes).await?;
        }
        Ok(())
    }

    async fn blob(&self, repository: &str, blob: &Descriptor) -> Result<(), BundleError> {
        if self.registry.has_blob(repository, &blob.digest).await? {
            return Ok(());
        }
        if blob.size <= IN_MEMORY_BYTES {
            let bytes: Bytes = self.bundle.read(&blob.digest)?;
            return Ok(self.registry.push_blob(repository, Content::Bytes(bytes), &blob.digest).await?);
        }
        let failed = |source| BundleError::Write { path: PathBuf::from("a temporary file"), source };
        let mut file = NamedTempFile::new().map_err(failed)?;
        let path = file.path().to_owned();
        self.bundle.copy(&blob.digest, &path, &mut file)?;
        file.flush().map_err(failed)?;
        let content = Content::File { path, size_bytes: blob.size };
        Ok(self.registry.push_blob(repository, content, &blob.digest).await?)
    }
}
