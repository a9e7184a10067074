//! A repository in memory, for tests and for generated files.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use api::{Version, VersionOrLatest};
use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};

use crate::{Error, File, FileSource, Repository};

/// Releases in memory, with a log of read files.
#[derive(Debug)]
pub struct MemoryRepository {
    default_version: VersionOrLatest,
    components_file: String,
    releases: BTreeMap<String, BTreeMap<String, Bytes>>,
    reads: Mutex<Vec<String>>,
}

impl MemoryRepository {
    /// Creates an empty repository with the default version `latest`.
    pub fn new(components_file: impl Into<String>) -> Self {
        Self {
            default_version: VersionOrLatest::Latest,
            components_file: components_file.into(),
            releases: BTreeMap::new(),
            reads: Mutex::default(),
        }
    }

    /// Sets the default version.
    #[must_use]
    pub fn with_default_version(mut self, version: VersionOrLatest) -> Self {
        self.default_version = version;
        self
    }

    /// Adds a file to a release. Creates the release if it does not exist.
    #[must_use]
    pub fn with_file(mut self, version: &str, file: &str, text: impl Into<Bytes>) -> Self {
        self.releases.entry(version.to_owned()).or_default().insert(file.to_owned(), text.into());
        self
    }

    /// Adds a release without files.
    #[must_use]
    pub fn with_release(mut self, version: &str) -> Self {
        self.releases.entry(version.to_owned()).or_default();
        self
    }

    /// The files read so far, as `{version}/{file}`, in order.
    pub fn reads(&self) -> Vec<String> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn release(&self, version: &str) -> Result<&BTreeMap<String, Bytes>, Error> {
        let wanted = Version::parse(version).ok();
        let same = |tag: &str| wanted.is_some() && Version::parse(tag).ok() == wanted;
        let release = self
            .releases
            .get(version)
            .or_else(|| self.releases.iter().find(|(tag, _)| same(tag)).map(|(_, release)| release));
        release.ok_or_else(|| Error::UnknownRelease {
            version: version.to_owned(),
            place: self.display_address(),
            available: self.releases.keys().cloned().collect(),
        })
    }

    fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        let name = format!("{version}/{file}");
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        let release = self.release(version)?;
        match release.get(file) {
            Some(bytes) => Ok(File { bytes: bytes.clone(), source: FileSource::Memory(name) }),
            None => Err(Error::UnknownFile {
                file: file.to_owned(),
                version: version.to_owned(),
                place: self.display_address(),
                looked_at: name,
                available: release.keys().cloned().collect(),
            }),
        }
    }
}

impl Repository for MemoryRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        Ok(self.default_version.clone())
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            let mut versions: Vec<Version> =
                self.releases.keys().filter_map(|tag| Version::parse(tag).ok()).collect();
            versions.sort();
            if versions.is_empty() {
                return Err(Error::NoVersions { place: self.display_address(), ignored: Vec::new() });
            }
            Ok(versions)
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        async move { self.read_file(version, file) }.boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move { Ok(self.release(version)?.keys().cloned().collect()) }.boxed()
    }

    fn components_file(&self) -> &str {
        &self.components_file
    }

    fn display_address(&self) -> String {
        "memory".to_owned()
    }
}
