//! Renders a first installation for use with other tools. Accesses no cluster.

use inventory::{PreflightProblems, ProviderInventory};
use manifest::Object;
use provider::{
    InstalledProvider,
    config::{CertManager, CertManagerMode, ConfigError},
};

use crate::{
    CertManagerManifestError, ProvidersRequest, ResolveError, Sources, cert_manager_manifest, error::several,
    preflight::check_providers,
};

/// A group of objects that are applied together.
#[derive(Clone, Debug)]
pub struct RenderedPart {
    /// `cert-manager`, `inventory` or the label of a provider.
    pub name: String,
    /// The objects in the order of application.
    pub objects: Vec<Object>,
}

/// An error while rendering an installation.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    CertManager(#[from] CertManagerManifestError),
    /// Providers that cannot be rendered, each with its reason.
    #[error("cannot render {}", several(errors.len()))]
    Resolve { errors: Vec<ResolveError> },
    /// Providers that are not compatible with each other.
    #[error(transparent)]
    Problems(#[from] PreflightProblems),
}

/// Renders a first installation of the given providers.
/// Shape: cert-manager if its mode is managed, the providers in request order, and the inventory last. The
/// inventory is its definition and an entry for each provider, so that every Cluster API tool knows the
/// installation.
/// # Errors
/// Fails with the problems of every provider and of their combination.
pub async fn render_installation(
    sources: &Sources<'_>,
    request: &ProvidersRequest,
    target_namespace: Option<&str>,
) -> Result<Vec<RenderedPart>, RenderError> {
    let mut parts = Vec::new();
    if sources.config.cert_manager()?.mode == CertManagerMode::Managed {
        let objects = cert_manager_manifest(sources).await?.objects;
        parts.push(RenderedPart { name: CertManager::LABEL.to_owned(), objects });
    }
    let rendered = sources.render(request, target_namespace).await;
    let rendered = rendered.map_err(|errors| RenderError::Resolve { errors })?;
    let problems = check_providers(&ProviderInventory::default(), &rendered, None);
    if !problems.is_empty() {
        return Err(PreflightProblems { problems }.into());
    }
    let mut installed = Vec::new();
    for provider in rendered {
        parts.push(RenderedPart { name: provider.id.label(), objects: provider.objects });
        let (id, version, namespace) = (provider.id, provider.version, provider.namespace);
        installed.push(InstalledProvider { id, version, namespace });
    }
    parts.push(RenderedPart {
        name: "inventory".to_owned(),
        objects: inventory::inventory_objects(&installed),
    });
    Ok(parts)
}
