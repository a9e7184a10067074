pub(crate) mod ca_bundle;

use api::{Contract, Metadata, ProviderId, Version};
use futures::{StreamExt as _, stream};
use manifest::{Object, provenance::Trace};
use provider::{
    ComponentsError, ComponentsInput, Overlay, Overlays, ProviderComponents, ProviderReleases, Release,
    ReleaseError, Substitution, TemplateText, build_components,
    config::{Config, ConfigError, UnknownProvider, Variables},
    read_metadata,
};
use repository::{Overrides, RepositoryContext};

/// The limit of providers whose files are read concurrently.
const MAX_PROVIDERS_AT_ONCE: usize = 8;

/// The sources of provider releases and of their variables.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The content of `clusterctl.yaml`, overridden by the environment.
    pub config: &'a Config,
    /// Local files that replace files of repositories.
    pub overrides: &'a Overrides,
    /// Access to repositories.
    pub repositories: &'a RepositoryContext,
    /// Kustomizations over the components of providers.
    pub overlays: &'a Overlays,
    /// Controls the recording of field origins in rendered objects.
    pub trace: Trace,
}

/// The requested providers, in the order of their flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvidersRequest {
    /// Each provider with its version, if given.
    pub providers: Vec<(ProviderId, Option<String>)>,
}

/// A provider to render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedProvider {
    pub(crate) id: ProviderId,
    /// The requested version. `None` for the newest usable version.
    pub(crate) version: Option<String>,
    /// The requested namespace. `None` for the namespace in the components.
    pub(crate) namespace: Option<String>,
}

/// A rendered provider release, ready to be applied.
#[derive(Clone, Debug)]
pub struct RenderedProvider {
    /// The identity of the provider.
    pub id: ProviderId,
    /// The version of the release.
    pub version: String,
    /// The contract of the release series, supported or not. Empty if the metadata does not name a contract.
    pub contract: Contract,
    /// The complete metadata, or the reason why it cannot be used.
    pub metadata: Result<Metadata, String>,
    /// The namespace of the provider.
    pub namespace: String,
    /// The folder or URL of the kustomization over the components.
    pub kustomization: Option<String>,
    /// The objects in installation order, including the Namespace, with patches of the configuration applied.
    pub objects: Vec<Object>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// An error while rendering a provider.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("cannot resolve `{provider}`")]
    Config {
        provider: ProviderId,
        #[source]
        source: Box<ConfigError>,
    },
    /// The configuration has no such provider.
    #[error("cannot resolve `{provider}`")]
    Unknown {
        provider: ProviderId,
        /// The providers with similar names.
        #[source]
        source: Box<UnknownProvider>,
    },
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error("cannot build the components of `{provider}` {version}")]
    Components {
        provider: ProviderId,
        version: String,
        #[source]
        source: Box<ComponentsError>,
    },
}

impl From<(ProviderId, ConfigError)> for ResolveError {
    fn from((provider, source): (ProviderId, ConfigError)) -> Self {
        Self::Config { provider, source: Box::new(source) }
    }
}

impl Sources<'_> {
    /// Opens the releases of a provider. Reads nothing yet.
    pub fn releases(&self, id: &ProviderId) -> Result<ProviderReleases, ResolveError> {
        let known = self.config.provider(id).map_err(|error| (id.clone(), error))?;
        let config =
            known.map_err(|error| ResolveError::Unknown { provider: id.clone(), source: Box::new(error) })?;
        Ok(ProviderReleases::open(config, self.overrides.clone(), self.repositories)?)
    }

    /// Fetches and renders providers concurrently and returns them in request order.
    /// Does not check versions and contracts.
    /// # Errors
    /// Returns the errors of all providers, including all missing variables.
    pub async fn render(
        &self,
        request: &ProvidersRequest,
        target_namespace: Option<&str>,
    ) -> Result<Vec<RenderedProvider>, Vec<ResolveError>> {
        let one = |(id, version): &(ProviderId, Option<String>)| WantedProvider {
            id: id.clone(),
            version: version.clone(),
            namespace: target_namespace.map(str::to_owned),
        };
        self.render_all(&request.providers.iter().map(one).collect::<Vec<_>>()).await
    }

    /// Renders providers like `render`, each with its own namespace.
    pub(crate) async fn render_all(
        &self,
        wanted: &[WantedProvider],
    ) -> Result<Vec<RenderedProvider>, Vec<ResolveError>> {
        let each = wanted.iter().map(|wanted| self.render_one(wanted));
        let results: Vec<_> = stream::iter(each).buffered(MAX_PROVIDERS_AT_ONCE).collect().await;
        let mut rendered = Vec::with_capacity(results.len());
        let mut errors = Vec::new();
        for result in results {
            match result {
                Ok(provider) => rendered.push(provider),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(rendered) } else { Err(errors) }
    }

    /// Returns the contract of a provider version, from the metadata of exactly that version.
    /// # Errors
    /// Fails if the metadata cannot be read or does not list the version.
    pub(crate) async fn contract_of(&self, id: &ProviderId, version: &str) -> Result<Contract, ResolveError> {
        let releases = self.releases(id)?;
        Ok(releases.release(version).check().await?.1)
    }

    async fn render_one(&self, wanted: &WantedProvider) -> Result<RenderedProvider, ResolveError> {
        let releases = self.releases(&wanted.id)?;
        let release = releases.choose_release(wanted.version.as_deref()).await?;
        let (metadata, text) = futures::join!(metadata_of(&release), release.components());
        let (metadata, text) = (metadata.map_err(|error| api::with_causes(&error)), text?);
        let overlay = self.overlays.get(&wanted.id).await;
        let components = self.build_provider(&release, &text, overlay, wanted.namespace.as_deref())?;
        let mut objects = components.objects;
        objects.iter_mut().for_each(ca_bundle::remove_injected_ca_bundles);
        Ok(RenderedProvider {
            id: wanted.id.clone(),
            version: release.version().to_owned(),
            contract: series_contract(metadata.as_ref().ok(), release.version()),
            metadata,
            namespace: components.target_namespace,
            kustomization: self.overlays.location(&wanted.id).map(str::to_owned),
            objects,
            warnings: components.warnings,
        })
    }

    fn build_provider(
        &self,
        release: &Release<'_>,
        text: &TemplateText,
        overlay: Option<&dyn Overlay>,
        target_namespace: Option<&str>,
    ) -> Result<ProviderComponents, ResolveError> {
        let id = &release.provider().id;
        let unusable = |error: ConfigError| ResolveError::from((id.clone(), error));
        build_components(&ComponentsInput {
            provider: id,
            text,
            variables: &Variables::new(self.config),
            substitution: Substitution::Full,
            image_overrides: &self.config.image_overrides().map_err(unusable)?,
            overlay,
            customisations: &self.config.customisations(id).map_err(unusable)?,
            target_namespace,
            trace: self.trace,
        })
        .map_err(|source| ResolveError::Components {
            provider: id.clone(),
            version: release.version().to_owned(),
            source: Box::new(source),
        })
    }
}

/// Reads the metadata without checking the version.
async fn metadata_of(release: &Release<'_>) -> Result<Metadata, ReleaseError> {
    let id = &release.provider().id;
    let file = release.read(Metadata::FILE).await?;
    read_metadata(id, &file.source.to_string(), &file.bytes).map_err(|source| ReleaseError::Metadata {
        provider: id.clone(),
        version: release.version().to_owned(),
        source: Box::new(source),
    })
}

fn series_contract(metadata: Option<&Metadata>, version: &str) -> Contract {
    let version = Version::parse(version).ok();
    let series = metadata.zip(version).and_then(|(metadata, version)| metadata.series_of(&version));
    series.map_or_else(|| Contract::new(""), |series| series.contract.clone())
}

#[cfg(test)]
mod tests;
