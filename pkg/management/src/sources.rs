pub(crate) mod ca_bundle;

use api::{Contract, Metadata, ProviderId, Version};
use futures::{StreamExt as _, stream};
use manifest::{Object, provenance::Trace};
use provider::{
    ComponentsError, ComponentsInput, Layer, Layers, ProviderComponents, ProviderReleases, Release,
    ReleaseError, Substitution, TemplateText, build_components,
    config::{Config, ConfigError, UnknownProvider, Variables},
    read_metadata,
};
use repository::{Context, Overrides};

/// Providers whose files are read at the same time.
const MAX_PROVIDERS_AT_ONCE: usize = 8;

/// Where provider releases and the values for them come from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// `clusterctl.yaml` with the environment on top.
    pub config: &'a Config,
    /// Files that win over those of repositories.
    pub overrides: &'a Overrides,
    /// How repositories are reached.
    pub repositories: &'a Context,
    /// Kustomizations over the components of providers.
    pub layers: &'a Layers,
    /// Whether it is kept what sets the fields of objects that are rendered.
    pub trace: Trace,
}

/// Providers somebody asked for, in the order of their flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvidersRequest {
    /// With the version where one was written.
    pub providers: Vec<(ProviderId, Option<String>)>,
}

/// A provider to be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) id: ProviderId,
    /// The newest usable one when none.
    pub(crate) version: Option<String>,
    /// The one its components bring when none.
    pub(crate) namespace: Option<String>,
}

/// A provider release made ready to be applied.
#[derive(Clone, Debug)]
pub struct RenderedProvider {
    /// Which provider.
    pub id: ProviderId,
    /// Its version.
    pub version: String,
    /// The contract its release series implements, whichever it is; empty when the metadata does not tell.
    pub contract: Contract,
    /// All of its metadata, or why it cannot be used.
    pub metadata: Result<Metadata, String>,
    /// The namespace it goes to.
    pub namespace: String,
    /// The folder or url of the kustomization over its components.
    pub kustomization: Option<String>,
    /// In the order of installation, the Namespace among them, patches of the configuration applied.
    pub objects: Vec<Object>,
    /// Of its containers.
    pub images: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A provider that cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The configuration cannot be read.
    #[error("cannot find out about `{provider}`")]
    Config {
        /// The provider.
        provider: ProviderId,
        /// The reason.
        #[source]
        source: Box<ConfigError>,
    },
    /// Nobody configured it.
    #[error("cannot find out about `{provider}`")]
    Unknown {
        /// The provider.
        provider: ProviderId,
        /// The providers that may be meant.
        #[source]
        source: Box<UnknownProvider>,
    },
    /// Its release cannot be read.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// Its components cannot be made.
    #[error("cannot make the components of `{provider}` {version}")]
    Components {
        /// Which provider.
        provider: ProviderId,
        /// Its version.
        version: String,
        /// Why.
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
    /// The releases of a provider. Nothing is read yet.
    pub fn releases(&self, id: &ProviderId) -> Result<ProviderReleases, ResolveError> {
        let known = self.config.provider(id).map_err(|error| (id.clone(), error))?;
        let config =
            known.map_err(|error| ResolveError::Unknown { provider: id.clone(), source: Box::new(error) })?;
        Ok(ProviderReleases::open(config, self.overrides.clone(), self.repositories)?)
    }

    /// Fetches and renders providers side by side; the result is in the order of the request.
    /// Whether versions and contracts fit is not judged here.
    /// # Errors
    /// What is wrong with any of them, missing variables of all included.
    pub async fn render(
        &self,
        request: &ProvidersRequest,
        target_namespace: Option<&str>,
    ) -> Result<Vec<RenderedProvider>, Vec<ResolveError>> {
        let one = |(id, version): &(ProviderId, Option<String>)| Wanted {
            id: id.clone(),
            version: version.clone(),
            namespace: target_namespace.map(str::to_owned),
        };
        self.render_all(&request.providers.iter().map(one).collect::<Vec<_>>()).await
    }

    /// The same, each provider with a namespace of its own.
    pub(crate) async fn render_all(
        &self,
        wanted: &[Wanted],
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

    /// The contract of a provider's version, as the metadata of that very version tells.
    /// # Errors
    /// When the metadata cannot be read, or does not let the version pass.
    pub(crate) async fn contract_of(&self, id: &ProviderId, version: &str) -> Result<Contract, ResolveError> {
        let releases = self.releases(id)?;
        Ok(releases.release(version).check().await?.1)
    }

    async fn render_one(&self, wanted: &Wanted) -> Result<RenderedProvider, ResolveError> {
        let releases = self.releases(&wanted.id)?;
        let release = releases.choose(wanted.version.as_deref()).await?;
        let (metadata, text) = futures::join!(metadata_of(&release), release.components());
        let (metadata, text) = (metadata.map_err(|error| api::with_causes(&error)), text?);
        let layer = self.layers.get(&wanted.id).await;
        let components = self.build(&release, &text, layer, wanted.namespace.as_deref())?;
        let mut objects = components.objects;
        objects.iter_mut().for_each(ca_bundle::leave_ca_bundles_alone);
        Ok(RenderedProvider {
            id: wanted.id.clone(),
            version: release.version().to_owned(),
            contract: series_contract(metadata.as_ref().ok(), release.version()),
            metadata,
            namespace: components.target_namespace,
            kustomization: self.layers.place(&wanted.id).map(str::to_owned),
            objects,
            images: components.images,
            warnings: components.warnings,
        })
    }

    fn build(
        &self,
        release: &Release<'_>,
        text: &TemplateText,
        layer: Option<&dyn Layer>,
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
            layer,
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

/// Reads the metadata without judging it.
async fn metadata_of(release: &Release<'_>) -> Result<Metadata, ReleaseError> {
    let id = &release.provider().id;
    let file = release.read(Metadata::FILE).await?;
    read_metadata(id, &file.origin.to_string(), &file.bytes).map_err(|source| ReleaseError::Metadata {
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
