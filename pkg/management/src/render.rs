//! What a first installation would apply, for whoever applies it by other means. No cluster is asked.

use inventory::{Problems, ProviderInventory};
use manifest::Object;
use provider::{
    InstalledProvider,
    config::{CertManager, CertManagerMode, ConfigError},
};

use crate::{
    CertManagerManifestError, ProvidersRequest, ResolveError, Sources, cert_manager_manifest, error::several,
    preflight::check_providers,
};

/// Objects that belong together.
#[derive(Clone, Debug)]
pub struct RenderedPart {
    /// `cert-manager`, `inventory` or the label of a provider.
    pub name: String,
    /// In the order they are to be applied.
    pub objects: Vec<Object>,
}

/// An installation that cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// cert-manager.
    #[error(transparent)]
    CertManager(#[from] CertManagerManifestError),
    /// Providers that cannot be rendered; each with its reason.
    #[error("{} cannot be rendered", several(errors.len()))]
    Resolve {
        /// All of them.
        errors: Vec<ResolveError>,
    },
    /// Providers that do not go together.
    #[error(transparent)]
    Problems(#[from] Problems),
}

/// Renders a first installation of these providers.
/// Shape: cert-manager when it is ours to install, the providers in the order of the request, the inventory last: its
/// definition and the entry of each provider, so that every tool of Cluster API knows what is there.
/// # Errors
/// Everything that is wrong with any provider, or with all of them together.
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
        return Err(Problems { problems }.into());
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
