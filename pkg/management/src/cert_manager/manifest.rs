use manifest::{Object, images::InvalidImage};
use provider::{
    RenderTextError, TemplateText,
    config::{CertManager, ConfigError},
    record_provenance,
    release_contents::open_cert_manager,
};

use super::record::{CORE_LABEL, CORE_VALUE, VERSION_ANNOTATION};
use crate::{LifecyclePlan, Sources, labels::set_labels};

/// A release of cert-manager, ready to be applied.
#[derive(Clone, Debug)]
pub struct CertManagerManifest {
    /// The version of the release.
    pub version: String,
    /// The namespace of its Deployments. Some objects are in other namespaces.
    pub namespace: String,
    /// Labelled objects with image overrides applied, in file order.
    pub objects: Vec<Object>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// An error while reading a release of cert-manager.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum CertManagerManifestError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot read cert-manager {version}")]
    Read {
        version: String,
        #[source]
        source: Box<repository::Error>,
    },
    #[error(transparent)]
    Text(#[from] RenderTextError),
    #[error("cannot use images in `{file}`: {}", list(images))]
    Images { file: String, images: Vec<InvalidImage> },
}

fn list(images: &[InvalidImage]) -> String {
    images.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Reads the configured release of cert-manager, with the same repository, overrides and image overrides as a
/// provider.
/// The text has no variables: `$` is literal.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (getManifestObjs).
/// # Errors
/// Fails if the configuration, the repository or the file is invalid.
pub async fn cert_manager_manifest(
    sources: &Sources<'_>,
) -> Result<CertManagerManifest, CertManagerManifestError> {
    let cert_manager = sources.config.cert_manager()?;
    let text = read(&cert_manager, sources).await?;
    let version = cert_manager.version;
    let mut objects = text.read_objects(&text.text)?.objects;
    text.trace(sources.trace, &mut objects);
    let overrides = sources.config.image_overrides()?;
    let warnings = provider::override_images(&overrides, CertManager::LABEL, &mut objects)
        .map_err(|images| CertManagerManifestError::Images { file: text.file.clone(), images })?;
    record_provenance(sources.trace, provider::CONFIGURATION, "images", &mut objects);
    for object in &mut objects {
        object.set_label(api::labels::CLUSTERCTL, "");
        object.set_label(CORE_LABEL, CORE_VALUE);
        object.set_annotation(VERSION_ANNOTATION, &version);
    }
    record_provenance(sources.trace, "", "mark of cert-manager", &mut objects);
    Ok(CertManagerManifest { namespace: namespace_of(&objects), version, objects, warnings })
}

/// Reads the configured release, as [`cert_manager_manifest`] does, with the labels of a plan.
pub(super) async fn planned_manifest(
    sources: &Sources<'_>,
    plan: &LifecyclePlan,
) -> Result<CertManagerManifest, CertManagerManifestError> {
    let mut manifest = cert_manager_manifest(sources).await?;
    set_labels(&mut manifest.objects, CertManager::LABEL, &plan.labels);
    Ok(manifest)
}

async fn read(
    cert_manager: &CertManager,
    sources: &Sources<'_>,
) -> Result<TemplateText, CertManagerManifestError> {
    let version = &cert_manager.version;
    let unreadable =
        |source| CertManagerManifestError::Read { version: version.clone(), source: Box::new(source) };
    let files = open_cert_manager(cert_manager, sources.overrides.clone(), sources.repositories);
    let files = files.map_err(unreadable)?;
    let name = files.repository().components_file().to_owned();
    let file = files.read(version, &name).await.map_err(unreadable)?;
    Ok(TemplateText::new(file.source.to_string(), &file.bytes)?)
}

/// Returns the namespace of the Deployments, which is the Namespace that the manifest brings.
fn namespace_of(objects: &[Object]) -> String {
    let brought = objects.iter().find(|object| object.kind() == "Namespace").map(Object::name);
    let used = objects.iter().find(|object| object.kind() == "Deployment").map(Object::namespace);
    brought.or(used).filter(|name| !name.is_empty()).unwrap_or(CertManager::LABEL).to_owned()
}
