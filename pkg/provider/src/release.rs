//! The releases of one provider: selecting a version, reading files, checking metadata.

use std::path::Path;

use api::{Contract, Metadata, ProviderId, Version, VersionError, VersionOrLatest};
use repository::{File, Overrides, Repository, RepositoryContext, RepositoryWithOverrides};

use crate::{
    config::{ProviderConfig, clean_path},
    metadata::{MetadataError, UnusableVersion, find_contract, read_metadata},
    template_text::{RenderTextError, TemplateText},
};

/// A provider with its repository and its overrides.
#[derive(Debug)]
pub struct ProviderReleases {
    provider: ProviderConfig,
    files: RepositoryWithOverrides,
}

/// The version text that selects the newest release.
const LATEST: &str = "latest";

/// One release of a provider.
#[derive(Clone, Debug)]
pub struct Release<'r> {
    releases: &'r ProviderReleases,
    version: String,
}

/// A release that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReleaseError {
    #[error("cannot find the releases of `{provider}`")]
    Repository {
        provider: ProviderId,
        #[source]
        source: Box<repository::Error>,
    },
    #[error("invalid version of `{provider}`")]
    Version {
        provider: ProviderId,
        #[source]
        source: VersionError,
    },
    #[error("cannot read `{file}` of `{provider}` {version}")]
    Read {
        file: String,
        provider: ProviderId,
        version: String,
        #[source]
        source: Box<repository::Error>,
    },
    #[error("cannot use a file of `{provider}` {version}")]
    Text {
        provider: ProviderId,
        version: String,
        #[source]
        source: Box<RenderTextError>,
    },
    #[error("cannot use the metadata of `{provider}` {version}")]
    Metadata {
        provider: ProviderId,
        version: String,
        #[source]
        source: Box<MetadataError>,
    },
    #[error("cannot use `{provider}` {version}")]
    UnusableVersion {
        provider: ProviderId,
        version: String,
        #[source]
        source: Box<UnusableVersion>,
    },
}

impl ProviderReleases {
    /// Opens the repository of a provider, without any read or connection.
    /// # Errors
    /// `Repository` if the url has no known form.
    pub fn open(
        provider: ProviderConfig,
        overrides: Overrides,
        context: &RepositoryContext,
    ) -> Result<Self, ReleaseError> {
        let label = provider.id.label();
        // A path may contain `..`. The url in messages stays as written.
        let url = if provider.url.starts_with('/') {
            clean_path(Path::new(&provider.url)).to_string_lossy().into_owned()
        } else {
            provider.url.clone()
        };
        let repository = repository::open(&url, &label, provider.kind, context).map_err(|source| {
            ReleaseError::Repository { provider: provider.id.clone(), source: Box::new(source) }
        })?;
        Ok(Self {
            provider,
            files: RepositoryWithOverrides::new(repository, overrides, label, context.clone()),
        })
    }

    /// Uses the given files instead of the url.
    pub fn with_files(provider: ProviderConfig, files: RepositoryWithOverrides) -> Self {
        Self { provider, files }
    }

    /// The configured provider, including its url.
    pub fn provider(&self) -> &ProviderConfig {
        &self.provider
    }

    /// The repository with overrides.
    pub fn files(&self) -> &RepositoryWithOverrides {
        &self.files
    }

    /// The repository without overrides.
    pub fn repository(&self) -> &dyn Repository {
        self.files.repository()
    }

    /// The release of a version as written. The release need not exist.
    pub fn release(&self, version: impl Into<String>) -> Release<'_> {
        Release { releases: self, version: version.into() }
    }

    /// The release of a version as written. `latest` selects the newest usable release.
    /// Source: clusterctl v1.14 client/repository/repository_local.go (GetFile). Differs: there, `latest` works in
    /// local repositories only.
    /// # Errors
    /// `Repository` if the newest release cannot be determined.
    pub async fn resolve_release(&self, version: &str) -> Result<Release<'_>, ReleaseError> {
        match version {
            LATEST => self.newest_release().await,
            version => Ok(self.release(version)),
        }
    }

    /// All versions, oldest first. For a locked provider, only the locked version, without any request.
    /// # Errors
    /// The errors of [`Repository::versions`]. Fails if the provider is not locked and only locked providers may be
    /// read.
    pub async fn versions(&self) -> Result<Vec<Version>, repository::Error> {
        match self.files.locked_version()?.and_then(|version| Version::parse(version).ok()) {
            Some(locked) => Ok(vec![locked]),
            None => self.repository().versions().await,
        }
    }

    /// The locked release, or the newest usable release.
    async fn newest_release(&self) -> Result<Release<'_>, ReleaseError> {
        let unknown = |source| ReleaseError::Repository {
            provider: self.provider.id.clone(),
            source: Box::new(source),
        };
        if let Some(locked) = self.files.locked_version().map_err(unknown)? {
            return Ok(self.release(locked));
        }
        let parse = |bytes: &[u8]| read_metadata(&self.provider.id, Metadata::FILE, bytes).ok();
        let newest = repository::latest_version(self.repository(), Contract::CURRENT, &parse)
            .await
            .map_err(unknown)?;
        Ok(self.release(newest.as_str()))
    }

    /// Selects a release: the given version, or the version in the url, or the newest usable release.
    ///
    /// A pinned version with `v` needs no request, and neither does the newest release of a locked provider.
    /// # Errors
    /// `Version` if the text is not a semantic version; `Repository` if the newest release cannot be determined.
    pub async fn choose_release(&self, version: Option<&str>) -> Result<Release<'_>, ReleaseError> {
        let provider = || self.provider.id.clone();
        if let Some(text) = version {
            let wanted = Version::parse(text)
                .map_err(|source| ReleaseError::Version { provider: provider(), source })?;
            // The files of `v1.2.3` are also found as `1.2.3`, but one release must have one name on a cluster.
            let known =
                if text.starts_with('v') { Vec::new() } else { self.versions().await.unwrap_or_default() };
            let is_same = |known: &&Version| known.semver() == wanted.semver();
            let is_exact = known.iter().any(|known| known.as_str() == text);
            let named = known.iter().find(is_same).filter(|_| !is_exact);
            return Ok(self.release(named.map_or(text, Version::as_str)));
        }
        let unknown = |source| ReleaseError::Repository { provider: provider(), source: Box::new(source) };
        match self.repository().default_version().map_err(unknown)? {
            VersionOrLatest::Pinned(version) => Ok(self.release(version.as_str())),
            VersionOrLatest::Latest => self.newest_release().await,
        }
    }
}

impl Release<'_> {
    /// The version, as written.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The releases of the provider.
    pub fn releases(&self) -> &ProviderReleases {
        self.releases
    }

    /// The configured provider.
    pub fn provider(&self) -> &ProviderConfig {
        &self.releases.provider
    }

    /// Reads a file: the override if there is one, else the file of the release.
    pub async fn read(&self, file: &str) -> Result<File, ReleaseError> {
        self.releases.files.read(&self.version, file).await.map_err(|source| ReleaseError::Read {
            file: file.to_owned(),
            provider: self.provider().id.clone(),
            version: self.version.clone(),
            source: Box::new(source),
        })
    }

    /// Reads a file that may contain variables.
    pub async fn read_text(&self, file: &str) -> Result<TemplateText, ReleaseError> {
        let found = self.read(file).await?;
        TemplateText::new(found.source.to_string(), &found.bytes).map_err(|source| ReleaseError::Text {
            provider: self.provider().id.clone(),
            version: self.version.clone(),
            source: Box::new(source),
        })
    }

    /// The names of the files of the release, sorted, without overrides.
    pub async fn files(&self) -> Result<Vec<String>, ReleaseError> {
        self.releases.repository().files(&self.version).await.map_err(|source| ReleaseError::Repository {
            provider: self.provider().id.clone(),
            source: Box::new(source),
        })
    }

    /// Reads the components file, whose name comes from the url.
    pub async fn components(&self) -> Result<TemplateText, ReleaseError> {
        self.read_text(self.releases.repository().components_file()).await
    }

    /// Reads the cluster template of a flavor, or the default template.
    pub async fn cluster_template(&self, flavor: Option<&str>) -> Result<TemplateText, ReleaseError> {
        self.read_text(&cluster_template_file(flavor)).await
    }

    /// Reads the metadata and checks the version against it. Returns the metadata and the contract of the version.
    /// # Errors
    /// `Read`, `Metadata`, `Version`; `UnusableVersion` if the series is not listed or the contract is not supported.
    pub async fn check(&self) -> Result<(Metadata, Contract), ReleaseError> {
        let provider = || self.provider().id.clone();
        let version = || self.version.clone();
        let parsed = Version::parse(&self.version)
            .map_err(|source| ReleaseError::Version { provider: provider(), source })?;
        let file = self.read(Metadata::FILE).await?;
        let metadata =
            read_metadata(&self.provider().id, &file.source.to_string(), &file.bytes).map_err(|source| {
                ReleaseError::Metadata { provider: provider(), version: version(), source: Box::new(source) }
            })?;
        let contract = find_contract(&self.provider().id, &metadata, &parsed)
            .map_err(|source| ReleaseError::UnusableVersion {
                provider: provider(),
                version: version(),
                source: Box::new(source),
            })?
            .clone();
        Ok((metadata, contract))
    }
}

/// The file name of the cluster template for a flavor.
pub fn cluster_template_file(flavor: Option<&str>) -> String {
    match flavor.filter(|flavor| !flavor.is_empty()) {
        Some(flavor) => format!("cluster-template-{flavor}.yaml"),
        None => "cluster-template.yaml".to_owned(),
    }
}

/// The flavor of a cluster template file. Empty for the default template, `None` for other files.
pub fn flavor_of_file(file: &str) -> Option<&str> {
    let rest = file.strip_prefix("cluster-template")?.strip_suffix(".yaml")?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('-').filter(|flavor| !flavor.is_empty()) }
}

/// The ClusterClass that a release file defines. `None` for other files.
pub fn cluster_class_of_file(file: &str) -> Option<&str> {
    file.strip_prefix("clusterclass-")?.strip_suffix(".yaml").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
