//! The full content of a release, for locks and bundles: its files, and the images that its components run or name.
//!
//! ```text
//! Release ─► release_files ─► read_files ─┐
//!    └─► components ─► objects ─► images ─┴─► Supply ─► LockedProvider
//! ```

use std::collections::{BTreeMap, BTreeSet};

use api::{Metadata, ProviderType};
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use manifest::{
    Object,
    images::{ImageOccurrence, ImageReference, find_images},
    provenance::Trace,
};
use repository::{File, LockedFile, LockedProvider, Overrides, RepositoryContext, RepositoryWithOverrides};
use transport::Digest;

use crate::{
    ComponentsError, ComponentsInput, Overlay, Release, ReleaseError, Substitution, build_components,
    cluster_class_of_file, cluster_template_file,
    config::{CertManager, Config, ConfigError, Variables},
    flavor_of_file,
};

/// The maximum number of files of a release to read concurrently.
const MAX_FILES_AT_ONCE: usize = 8;

/// The full content of a release.
#[derive(Clone, Debug)]
pub struct ReleaseContents {
    /// The version, as written.
    pub version: String,
    /// The files, by name.
    pub files: BTreeMap<String, File>,
    /// The images of the components after image overrides, in object order. An image used twice is listed twice.
    pub images: Vec<ImageOccurrence>,
    /// The files of the kustomization over the components, as in [`crate::OverlayResult`].
    pub kustomization: BTreeMap<String, Bytes>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// A release whose content cannot be collected.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReleaseContentsError {
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot build the components of {version}")]
    Components {
        version: String,
        #[source]
        source: Box<ComponentsError>,
    },
}

/// The names of all release files that capstan reads, sorted: components, metadata, and for infrastructure providers
/// all cluster templates and ClusterClasses. Overrides are included.
///
/// If the host cannot list files, the default cluster template is included instead, even if it does not exist.
/// # Errors
/// Any failure to list files, except [`repository::Error::CannotList`].
pub async fn release_files(release: &Release<'_>) -> Result<Vec<String>, ReleaseError> {
    let files = release.releases().files();
    let unreadable = |source| ReleaseError::Repository {
        provider: release.provider().id.clone(),
        source: Box::new(source),
    };
    let components = files.repository().components_file().to_owned();
    let mut names = BTreeSet::from([components, Metadata::FILE.to_owned()]);
    if release.provider().id.provider_type == ProviderType::Infrastructure {
        let listed = match files.repository().files(release.version()).await {
            Err(repository::Error::CannotList { .. }) => vec![cluster_template_file(None)],
            listed => listed.map_err(unreadable)?,
        };
        let overrides = files.overrides().files(files.label(), release.version()).map_err(unreadable)?;
        let is_template =
            |name: &String| flavor_of_file(name).is_some() || cluster_class_of_file(name).is_some();
        names.extend(listed.into_iter().chain(overrides).filter(is_template));
    }
    Ok(names.into_iter().collect())
}

/// Reads files of a release concurrently. Missing files are omitted.
/// # Errors
/// Any failure to read a file, except for a missing file.
pub async fn read_files(
    files: &RepositoryWithOverrides,
    version: &str,
    names: impl IntoIterator<Item = String>,
) -> Result<BTreeMap<String, File>, repository::Error> {
    let read = |name: String| async move {
        match files.read(version, &name).await {
            Ok(file) => Ok(Some((name, file))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    };
    let found = stream::iter(names).map(read).buffered(MAX_FILES_AT_ONCE);
    found.try_filter_map(async |file| Ok(file)).try_collect().await
}

/// The images that objects run or name, in object order.
pub fn find_all_images(objects: &[Object]) -> Vec<ImageOccurrence> {
    objects.iter().flat_map(find_images).collect()
}

/// Opens the repository of cert-manager with overrides, without any read or connection.
/// # Errors
/// Fails if the url has no known form.
pub fn open_cert_manager(
    cert_manager: &CertManager,
    overrides: Overrides,
    context: &RepositoryContext,
) -> Result<RepositoryWithOverrides, repository::Error> {
    let repository = repository::open(&cert_manager.url, CertManager::LABEL, None, context)?;
    Ok(RepositoryWithOverrides::new(repository, overrides, CertManager::LABEL, context.clone()))
}

/// Collects the content of a release after checking its metadata. `also` names additional files that no list contains.
///
/// Variables with a value are replaced, so that the images are those of an installation.
/// # Errors
/// Fails if the release cannot be read or used, or its components cannot be rendered.
pub async fn read_release_contents(
    release: &Release<'_>,
    config: &Config,
    layer: Option<&dyn Overlay>,
    extra_files: &[String],
) -> Result<ReleaseContents, ReleaseContentsError> {
    release.check().await?;
    let mut names = release_files(release).await?;
    names.extend(extra_files.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
    let version = release.version().to_owned();
    let id = &release.provider().id;
    let files = read_files(release.releases().files(), &version, names)
        .await
        .map_err(|source| ReleaseError::Repository { provider: id.clone(), source: Box::new(source) })?;
    let components = build_components(&ComponentsInput {
        provider: id,
        text: &release.components().await?,
        variables: &Variables::new(config),
        substitution: Substitution::OnlySet,
        image_overrides: &config.image_overrides()?,
        overlay: layer,
        customisations: &config.customisations(id)?,
        target_namespace: Some("default"),
        trace: Trace::Off,
    })
    .map_err(|source| ReleaseContentsError::Components {
        version: version.clone(),
        source: Box::new(source),
    })?;
    let kustomization = components.overlay_files;
    Ok(ReleaseContents {
        version,
        files,
        images: find_all_images(&components.objects),
        kustomization,
        warnings: components.warnings,
    })
}

impl ReleaseContents {
    /// Creates a lock entry. The digest of an image comes from its reference, else from the previous lock entry.
    pub fn lock(&self, url: String, before: Option<&LockedProvider>) -> LockedProvider {
        let known = |reference: &str| -> Option<Digest> {
            let written = ImageReference::parse(reference).ok().and_then(|it| it.digest);
            let before = || before.and_then(|before| *before.images.get(reference)?);
            written.and_then(|digest| digest.parse().ok()).or_else(before)
        };
        LockedProvider {
            version: self.version.clone(),
            url,
            files: self.files.iter().map(|(name, file)| (name.clone(), LockedFile::of(file))).collect(),
            images: self
                .images
                .iter()
                .map(|image| (image.reference.clone(), known(&image.reference)))
                .collect(),
            kustomization: self
                .kustomization
                .iter()
                .map(|(name, bytes)| (name.clone(), Digest::of(bytes)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
