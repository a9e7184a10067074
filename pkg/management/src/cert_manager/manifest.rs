use manifest::{
    Object,
    images::{self, InvalidImage},
};
use provider::{
    RenderTextError, TemplateText,
    config::{CertManager, ConfigError},
};
use repository::WithOverrides;

use super::{CORE_LABEL, CORE_VALUE, VERSION_ANNOTATION};
use crate::Sources;

/// A release of cert-manager made ready to be applied.
#[derive(Clone, Debug)]
pub struct CertManagerManifest {
    /// Its version.
    pub version: String,
    /// The namespace it runs in; some of its objects are in others.
    pub namespace: String,
    /// In the order of its file, labelled, with image overrides in place.
    pub objects: Vec<Object>,
}

/// A release of cert-manager that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CertManagerManifestError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The repository, or the file in it.
    #[error("cannot read cert-manager {version}")]
    Read {
        /// The version.
        version: String,
        /// Why.
        #[source]
        source: Box<repository::Error>,
    },
    /// The text.
    #[error(transparent)]
    Text(#[from] RenderTextError),
    /// Images of it, of all containers.
    #[error("`{file}` names images that cannot be used: {}", list(images))]
    Images {
        /// Path or URL.
        file: String,
        /// Each with object, container and reason.
        images: Vec<InvalidImage>,
    },
}

fn list(images: &[InvalidImage]) -> String {
    images.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Reads the release of cert-manager that the configuration names, through repository, overrides and image overrides as
/// those of providers. It has no variables: `$` stands for itself.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (getManifestObjs).
/// # Errors
/// Says what is wrong with the configuration, the repository or the file.
pub async fn cert_manager_manifest(
    sources: &Sources<'_>,
) -> Result<CertManagerManifest, CertManagerManifestError> {
    let CertManager { url, version, .. } = sources.config.cert_manager()?;
    let text = read(&url, &version, sources).await?;
    let mut objects = text.read_objects(&text.text)?.objects;
    override_images(&text.file, &mut objects, sources)?;
    for object in &mut objects {
        object.set_label(api::labels::CLUSTERCTL, "");
        object.set_label(CORE_LABEL, CORE_VALUE);
        object.set_annotation(VERSION_ANNOTATION, &version);
    }
    Ok(CertManagerManifest { namespace: namespace_of(&objects), version, objects })
}

async fn read(
    url: &str,
    version: &str,
    sources: &Sources<'_>,
) -> Result<TemplateText, CertManagerManifestError> {
    let unreadable =
        |source| CertManagerManifestError::Read { version: version.to_owned(), source: Box::new(source) };
    let context = sources.repositories;
    let repository = repository::open(url, CertManager::LABEL, context).map_err(unreadable)?;
    let file = repository.components_file().to_owned();
    let files =
        WithOverrides::new(repository, sources.overrides.clone(), CertManager::LABEL, context.clone());
    let file = files.read(version, &file).await.map_err(unreadable)?;
    Ok(TemplateText::new(file.origin.to_string(), &file.bytes)?)
}

fn override_images(
    file: &str,
    objects: &mut [Object],
    sources: &Sources<'_>,
) -> Result<(), CertManagerManifestError> {
    let overrides = sources.config.image_overrides()?;
    let rule = |image: &str| overrides.resolve(CertManager::LABEL, image);
    let change = |object| images::override_images(object, &rule).err();
    let images: Vec<_> = objects.iter_mut().filter_map(change).flatten().collect();
    if images.is_empty() {
        return Ok(());
    }
    Err(CertManagerManifestError::Images { file: file.to_owned(), images })
}

/// Where its Deployments are, which is the Namespace it brings.
fn namespace_of(objects: &[Object]) -> String {
    let brought = objects.iter().find(|object| object.kind() == "Namespace").map(Object::name);
    let used = objects.iter().find(|object| object.kind() == "Deployment").map(Object::namespace);
    brought.or(used).filter(|name| !name.is_empty()).unwrap_or(CertManager::LABEL).to_owned()
}
