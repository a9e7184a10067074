//! The releases of one provider: choosing a version, reading its files, asking its metadata.

use std::path::Path;

use api::{Contract, InvalidVersion, Metadata, ProviderId, Version, VersionOrLatest};
use repository::{Context, File, Overrides, Repository, WithOverrides};

use crate::{
    config::{ProviderConfig, without_dots},
    metadata::{MetadataError, UnusableVersion, contract_of, read_metadata},
    template_text::{RenderTextError, TemplateText},
};

/// A provider with its repository and the overrides in front of it.
#[derive(Debug)]
pub struct ProviderReleases {
    provider: ProviderConfig,
    files: WithOverrides,
}

/// What stands for the newest release where a version can be written.
const LATEST: &str = "latest";

/// One release of a provider.
#[derive(Clone, Debug)]
pub struct Release<'r> {
    releases: &'r ProviderReleases,
    version: String,
}

/// A release that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// The repository cannot be opened, or its versions cannot be told.
    #[error("cannot find the releases of `{provider}`")]
    Repository {
        /// Whose repository it is.
        provider: ProviderId,
        /// Why.
        #[source]
        source: Box<repository::Error>,
    },
    /// A version that is none.
    #[error("cannot tell which version of `{provider}` is meant")]
    Version {
        /// Whose version it is.
        provider: ProviderId,
        /// Why.
        #[source]
        source: InvalidVersion,
    },
    /// A file of the release cannot be read.
    #[error("cannot read `{file}` of `{provider}` {version}")]
    Read {
        /// Name of the file.
        file: String,
        /// Whose file it is.
        provider: ProviderId,
        /// Version of the release.
        version: String,
        /// Why.
        #[source]
        source: Box<repository::Error>,
    },
    /// A file of the release is no text.
    #[error("cannot use a file of `{provider}` {version}")]
    Text {
        /// Whose file it is.
        provider: ProviderId,
        /// Version of the release.
        version: String,
        /// Where it is wrong.
        #[source]
        source: Box<RenderTextError>,
    },
    /// The metadata cannot be used.
    #[error("cannot use the metadata of `{provider}` {version}")]
    Metadata {
        /// Whose metadata it is.
        provider: ProviderId,
        /// Version of the release.
        version: String,
        /// Why.
        #[source]
        source: Box<MetadataError>,
    },
    /// The metadata does not let the version pass.
    #[error("cannot use `{provider}` {version}")]
    Unusable {
        /// Whose version it is.
        provider: ProviderId,
        /// The version.
        version: String,
        /// Why.
        #[source]
        source: Box<UnusableVersion>,
    },
}

impl ProviderReleases {
    /// Opens the repository of a provider; nothing is read and no connection made.
    /// # Errors
    /// `Repository` when its url has none of the known forms.
    pub fn open(
        provider: ProviderConfig,
        overrides: Overrides,
        context: &Context,
    ) -> Result<Self, ReleaseError> {
        let label = provider.id.label();
        // The url is shown as it is written, which may be a path with `..` in it.
        let url = if provider.url.starts_with('/') {
            without_dots(Path::new(&provider.url)).to_string_lossy().into_owned()
        } else {
            provider.url.clone()
        };
        let repository = repository::open(&url, &label, provider.kind, context).map_err(|source| {
            ReleaseError::Repository { provider: provider.id.clone(), source: Box::new(source) }
        })?;
        Ok(Self { provider, files: WithOverrides::new(repository, overrides, label, context.clone()) })
    }

    /// Takes files from somewhere else than the url says.
    pub fn over(provider: ProviderConfig, files: WithOverrides) -> Self {
        Self { provider, files }
    }

    /// Which provider it is, and its url.
    pub fn provider(&self) -> &ProviderConfig {
        &self.provider
    }

    /// Overrides and repository.
    pub fn files(&self) -> &WithOverrides {
        &self.files
    }

    /// The repository behind the overrides.
    pub fn repository(&self) -> &dyn Repository {
        self.files.repository()
    }

    /// The release of a version as it is written, whether it exists or not.
    pub fn release(&self, version: impl Into<String>) -> Release<'_> {
        Release { releases: self, version: version.into() }
    }

    /// The release of a version as it is written; `latest` stands for the newest usable one.
    /// Source: clusterctl v1.14 client/repository/repository_local.go (GetFile); differs: there, `latest` works for local
    /// repositories alone.
    /// # Errors
    /// `Repository` when the newest one cannot be found.
    pub async fn named(&self, version: &str) -> Result<Release<'_>, ReleaseError> {
        match version {
            LATEST => self.newest().await,
            version => Ok(self.release(version)),
        }
    }

    /// All versions, oldest first; of a locked provider the locked one alone, for which nobody is asked.
    /// # Errors
    /// As [`Repository::versions`], and when only locked providers may be read and this one is not.
    pub async fn versions(&self) -> Result<Vec<Version>, repository::Error> {
        match self.files.locked_version()?.and_then(|version| Version::parse(version).ok()) {
            Some(locked) => Ok(vec![locked]),
            None => self.repository().versions().await,
        }
    }

    /// The locked version, or the newest usable one.
    async fn newest(&self) -> Result<Release<'_>, ReleaseError> {
        let unknown = |source| ReleaseError::Repository {
            provider: self.provider.id.clone(),
            source: Box::new(source),
        };
        if let Some(locked) = self.files.locked_version().map_err(unknown)? {
            return Ok(self.release(locked));
        }
        let parse = |bytes: &[u8]| read_metadata(&self.provider.id, Metadata::FILE, bytes).ok();
        let newest =
            repository::latest(self.repository(), Contract::CURRENT, &parse).await.map_err(unknown)?;
        Ok(self.release(newest.as_str()))
    }

    /// Chooses a release: the given version, else the one in the url, else the newest usable one.
    /// A pinned version costs no request, nor does the newest one of a locked provider.
    /// # Errors
    /// `Version` when the given text is no semantic version; `Repository` when the newest one cannot be found.
    pub async fn choose(&self, version: Option<&str>) -> Result<Release<'_>, ReleaseError> {
        let provider = || self.provider.id.clone();
        if let Some(text) = version {
            Version::parse(text).map_err(|source| ReleaseError::Version { provider: provider(), source })?;
            return Ok(self.release(text));
        }
        let unknown = |source| ReleaseError::Repository { provider: provider(), source: Box::new(source) };
        match self.repository().default_version().map_err(unknown)? {
            VersionOrLatest::Pinned(version) => Ok(self.release(version.as_str())),
            VersionOrLatest::Latest => self.newest().await,
        }
    }
}

impl Release<'_> {
    /// The version, as it was written.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The releases it is one of.
    pub fn releases(&self) -> &ProviderReleases {
        self.releases
    }

    /// Which provider it is of.
    pub fn provider(&self) -> &ProviderConfig {
        &self.releases.provider
    }

    /// Reads a file: the override if there is one, else that of the release.
    pub async fn read(&self, file: &str) -> Result<File, ReleaseError> {
        self.releases.files.read(&self.version, file).await.map_err(|source| ReleaseError::Read {
            file: file.to_owned(),
            provider: self.provider().id.clone(),
            version: self.version.clone(),
            source: Box::new(source),
        })
    }

    /// Reads a file that may hold variables.
    pub async fn read_text(&self, file: &str) -> Result<TemplateText, ReleaseError> {
        let found = self.read(file).await?;
        TemplateText::new(found.origin.to_string(), &found.bytes).map_err(|source| ReleaseError::Text {
            provider: self.provider().id.clone(),
            version: self.version.clone(),
            source: Box::new(source),
        })
    }

    /// Names of the files of the release, sorted; overrides are not among them.
    pub async fn files(&self) -> Result<Vec<String>, ReleaseError> {
        self.releases.repository().files(&self.version).await.map_err(|source| ReleaseError::Repository {
            provider: self.provider().id.clone(),
            source: Box::new(source),
        })
    }

    /// Reads the components file under the name the url gives it.
    pub async fn components(&self) -> Result<TemplateText, ReleaseError> {
        self.read_text(self.releases.repository().components_file()).await
    }

    /// Reads the cluster template of a flavor; the plain one for none.
    pub async fn cluster_template(&self, flavor: Option<&str>) -> Result<TemplateText, ReleaseError> {
        self.read_text(&cluster_template_file(flavor)).await
    }

    /// Reads the metadata and checks that it lets this version pass; gives the contract of this version with it.
    /// # Errors
    /// `Read`, `Metadata`, `Version`, and `Unusable` when series or contract do not fit.
    pub async fn check(&self) -> Result<(Metadata, Contract), ReleaseError> {
        let provider = || self.provider().id.clone();
        let version = || self.version.clone();
        let parsed = Version::parse(&self.version)
            .map_err(|source| ReleaseError::Version { provider: provider(), source })?;
        let file = self.read(Metadata::FILE).await?;
        let metadata =
            read_metadata(&self.provider().id, &file.origin.to_string(), &file.bytes).map_err(|source| {
                ReleaseError::Metadata { provider: provider(), version: version(), source: Box::new(source) }
            })?;
        let contract = contract_of(&self.provider().id, &metadata, &parsed)
            .map_err(|source| ReleaseError::Unusable {
                provider: provider(),
                version: version(),
                source: Box::new(source),
            })?
            .clone();
        Ok((metadata, contract))
    }
}

/// The file of a flavor in a provider release.
pub fn cluster_template_file(flavor: Option<&str>) -> String {
    match flavor.filter(|flavor| !flavor.is_empty()) {
        Some(flavor) => format!("cluster-template-{flavor}.yaml"),
        None => "cluster-template.yaml".to_owned(),
    }
}

/// The flavor a file of a provider release is the template of; the empty text for the plain template.
pub fn flavor_of_file(file: &str) -> Option<&str> {
    let rest = file.strip_prefix("cluster-template")?.strip_suffix(".yaml")?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('-').filter(|flavor| !flavor.is_empty()) }
}

/// The ClusterClass a file of a provider release defines.
pub fn cluster_class_of_file(file: &str) -> Option<&str> {
    file.strip_prefix("clusterclass-")?.strip_suffix(".yaml").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
