//! Releases in a registry: one artifact per version. The layers of the artifact are the files of the release.
//!
//! ```text
//! oci://registry/repository:tag@digest
//!   Registry (challenges, tokens, redirects, uploads; every digest checked)
//!     └─ manifest or index ─► signature ─► Artifact (files by title, or one packed layer) ─► Oci: dyn Repository
//! ```

mod archive;
pub(crate) mod artifact;
mod error;
mod file_names;
mod key;
mod packed;
mod signature;

use std::sync::Arc;

use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    names::{check_file, check_version},
    registry::{FetchedManifest, Reference, Registry},
};

use crate::{Error, File, FileSource, OciLocation, Repository, RepositoryContext, repository};

pub use error::OciError;
pub(crate) use file_names::CERT_MANAGER_LABEL;
pub use packed::{PackedArtifact, fetch_packed};

use artifact::Artifact;
use file_names::FileNames;
use key::PublicKey;

/// Releases of a provider in a registry.
#[derive(Debug)]
pub(crate) struct OciRepository {
    location: OciLocation,
    names: FileNames,
    registry: Registry,
    context: RepositoryContext,
}

impl OciRepository {
    pub(crate) fn new(location: OciLocation, context: &RepositoryContext) -> Self {
        let (names, registry) = (FileNames::of(&location.label), Registry::new(&location.registry, context));
        Self { location, names, registry, context: context.clone() }
    }

    /// Returns the artifact of a version after checking its signature. Looked up once per process.
    async fn artifact(&self, version: &str) -> Result<Arc<Artifact>, Error> {
        check_version(version)?;
        let place = self.display_address();
        let key = format!("{place}:{version} for {}", self.location.label);
        // Boxed because the state of a lookup with signature is large.
        self.context.cached_results().get(&key, self.pull(version).boxed()).await
    }

    async fn pull(&self, version: &str) -> Result<Arc<Artifact>, Error> {
        let repository = &self.location.repository;
        let mut offline = None;
        for reference in references(&self.location, version)? {
            let found = match self.registry.manifest(repository, &reference).await {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                // The cache may contain the other spelling of the tag.
                Err(error @ transport::Error::Offline { .. }) => {
                    offline.get_or_insert(error);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let address = self.registry.address(repository, Some(&reference));
            if let Some(path) = self.context.release_settings().verify_keys.get(&self.location.label) {
                let key = PublicKey::read(path, self.context.max_file_bytes())?;
                signature::verify(&self.registry, repository, &address, &found.digest, &key).await?;
            }
            let artifact =
                Artifact::of(&self.registry, repository, address, found, &self.location.label).await?;
            return Ok(Arc::new(artifact));
        }
        if let Some(not_here) = offline {
            return Err(not_here.into());
        }
        let available = match self.list_versions().await {
            Ok(versions) => versions.iter().map(|version| version.as_str().to_owned()).collect(),
            // The error reports the missing release; the list of versions is optional.
            Err(_) => Vec::new(),
        };
        Err(Error::UnknownRelease { version: version.to_owned(), place: self.display_address(), available })
    }

    async fn list_versions(&self) -> Result<Arc<[Version]>, Error> {
        if let (Some(_), Some(tag)) = (&self.location.digest, &self.location.tag) {
            return Ok(Version::parse(tag).into_iter().collect());
        }
        let place = self.display_address();
        let ask = async {
            let tags = self.registry.tags(&self.location.repository).await?;
            let mut versions: Vec<Version> =
                tags.iter().filter_map(|tag| Version::parse(&tag.replace('_', "+")).ok()).collect();
            if versions.is_empty() {
                return Err(Error::NoVersions { place: self.display_address(), ignored: tags });
            }
            versions.sort();
            Ok(versions.into())
        };
        self.context.cached_results().get(&place, ask).await
    }

    async fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        check_file(file)?;
        let artifact = self.artifact(version).await?;
        let title = self.names.candidates(version, file).into_iter().find(|title| artifact.has(title));
        let Some(title) = title else {
            return Err(Error::UnknownFile {
                file: file.to_owned(),
                version: version.to_owned(),
                place: self.display_address(),
                looked_at: artifact.address().to_owned(),
                available: self.file_names(&artifact, version),
            });
        };
        let origin = format!("{}/{title}", artifact.address());
        let read = async {
            let bytes = artifact.read(&self.registry, &self.location.repository, &title).await?;
            Ok(File { bytes, source: FileSource::Url(origin.clone()) })
        };
        self.context.cached_results().get(&origin, read).await
    }

    /// The names under which the files can be read.
    fn file_names(&self, artifact: &Artifact, version: &str) -> Vec<String> {
        let mut names: Vec<String> =
            artifact.titles().map(|title| self.names.short_name(version, title)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Fetches the manifest of a version without checking signatures. `None` if the registry does not have the version.
/// # Errors
/// [`OciError::Pinned`]; any failure of a request.
pub async fn find_published(
    location: &OciLocation,
    version: &str,
    context: &transport::Context,
) -> Result<Option<FetchedManifest>, Error> {
    let registry = Registry::new(&location.registry, context);
    for reference in references(location, version)? {
        match registry.manifest(&location.repository, &reference).await {
            // The cache may contain the other spelling of the tag.
            Ok(None) | Err(transport::Error::Offline { .. }) => {}
            found => return Ok(found?),
        }
    }
    Ok(None)
}

/// References that may name a version: the pinned digest, or the version as a tag, with and without `v`.
fn references(location: &OciLocation, version: &str) -> Result<Vec<Reference>, OciError> {
    let same = |tag: &str| tag.trim_start_matches('v') == version.trim_start_matches('v');
    match (&location.digest, &location.tag) {
        (Some(digest), Some(tag)) if same(tag) => Ok(vec![Reference::Digest(*digest)]),
        (Some(_), Some(pinned)) => {
            let place = format!("oci://{}/{}", location.registry, location.repository);
            Err(OciError::Pinned { place, requested: version.to_owned(), pinned: pinned.clone() })
        }
        _ => {
            let other = version.strip_prefix('v').map_or_else(|| format!("v{version}"), str::to_owned);
            Ok([version, &other].map(Reference::of_version).to_vec())
        }
    }
}

impl Repository for OciRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        let Some(tag) = &self.location.tag else { return Ok(VersionOrLatest::Latest) };
        repository::default_version(self, tag)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move { Ok(self.list_versions().await?.to_vec()) }.boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        self.read_file(version, file).boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            let artifact = self.artifact(version).await?;
            Ok(self.file_names(&artifact, version))
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        self.names.components()
    }

    fn display_address(&self) -> String {
        self.registry.address(&self.location.repository, None)
    }
}

#[cfg(test)]
mod tests;
