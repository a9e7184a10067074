use std::{
    io,
    path::{Path, PathBuf},
};

use transport::{
    Event,
    disk::read_limited,
    names::{check_file, check_version},
};

use crate::{Error, File, FileSource, LockSettings, Repository, RepositoryContext, local::list_files};

/// The overrides folder. Its files replace files of repositories: `{root}/{label}/{version}/{file}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    root: Option<PathBuf>,
}

impl Overrides {
    /// Uses the given folder, which need not exist.
    pub fn in_folder(root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()) }
    }

    /// Selects the overrides folder: the configured folder, or `$XDG_CONFIG_HOME/cluster-api/overrides` if it exists,
    /// or `$HOME/.cluster-api/overrides`.
    /// Source: clusterctl v1.14 client/repository/overrides.go.
    pub fn choose(configured: Option<&Path>, xdg: Option<&Path>, home: Option<&Path>) -> Self {
        if let Some(folder) = configured {
            return Self::in_folder(folder);
        }
        let xdg = xdg.map(|folder| folder.join("overrides"));
        let home = home.map(|folder| folder.join("overrides"));
        // An empty folder under `$XDG_CONFIG_HOME` hides the folder under `$HOME`, as in clusterctl.
        let root = if xdg.as_deref().is_some_and(Path::exists) { xdg } else { home.or(xdg) };
        Self { root }
    }

    /// The folder. `None` if no folder is configured and no home is known.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The path of an override, which need not exist.
    /// # Errors
    /// [`transport::Error::UnsafeName`] if the label, version or file would lead out of the folder.
    pub fn path(&self, label: &str, version: &str, file: &str) -> Result<Option<PathBuf>, Error> {
        check_version(label)?;
        check_version(version)?;
        check_file(file)?;
        Ok(self.root.as_ref().map(|root| root.join(label).join(version).join(file)))
    }

    /// The names of the overrides of one release, sorted. Subfolders are ignored.
    /// # Errors
    /// [`transport::Error::UnsafeName`] if the label or version would lead out of the folder. Fails if the folder cannot
    /// be read.
    pub fn files(&self, label: &str, version: &str) -> Result<Vec<String>, Error> {
        check_version(label)?;
        check_version(version)?;
        let Some(folder) = self.root.as_ref().map(|root| root.join(label).join(version)) else {
            return Ok(Vec::new());
        };
        match list_files(&folder) {
            Err(Error::Transport(transport::Error::Read { source, .. }))
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(Vec::new())
            }
            listed => listed,
        }
    }

    /// Reads an override. `None` if it does not exist.
    /// # Errors
    /// Fails if the override cannot be read, is a folder, or is larger than `limit_bytes`.
    pub fn read(
        &self,
        label: &str,
        version: &str,
        file: &str,
        limit_bytes: u64,
    ) -> Result<Option<File>, Error> {
        let Some(path) = self.path(label, version, file)? else { return Ok(None) };
        let bytes = read_limited(&path, limit_bytes)?;
        Ok(bytes.map(|bytes| File { bytes, source: FileSource::Override(path) }))
    }
}

/// A repository of a provider, with the overrides of the provider applied.
///
/// Overrides do not affect the list of versions and the latest version. Use [`RepositoryWithOverrides::repository`] to query
/// these.
#[derive(Debug)]
pub struct RepositoryWithOverrides {
    repository: Box<dyn Repository>,
    overrides: Overrides,
    label: String,
    context: RepositoryContext,
}

impl RepositoryWithOverrides {
    /// Applies the overrides of a provider, selected by label, to its repository.
    pub fn new(
        repository: Box<dyn Repository>,
        overrides: Overrides,
        label: impl Into<String>,
        context: RepositoryContext,
    ) -> Self {
        Self { repository, overrides, label: label.into(), context }
    }

    /// The repository without overrides.
    pub fn repository(&self) -> &dyn Repository {
        &*self.repository
    }

    /// The overrides of repository files.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// The provider label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Reads a file of a pinned version: the override if there is one, else the file of the release.
    ///
    /// If an override exists, the repository is not accessed. If a lock applies, the file must match the lock.
    /// # Errors
    /// The errors of [`Overrides::read`] and [`Repository::read`]; [`Error::LockMismatch`].
    pub async fn read(&self, version: &str, file: &str) -> Result<File, Error> {
        let Some(lock) = self.lock() else { return self.find(version, file).await };
        let locked = lock.find_file(&self.label, version, file)?;
        let found = self.find(version, file).await?;
        if let Some(locked) = locked {
            lock.verify((&self.label, version, file), locked, &found)?;
        }
        Ok(found)
    }

    /// The locked version. `None` without a lock, or if the provider may be read unlocked.
    /// # Errors
    /// [`Error::LockMismatch`] if the provider is not locked and only locked providers may be read.
    pub fn locked_version(&self) -> Result<Option<&str>, Error> {
        let Some(lock) = self.lock() else { return Ok(None) };
        let entry = lock.provider(&self.label)?;
        Ok(entry.map(|entry| entry.version.as_str()))
    }

    fn lock(&self) -> Option<&LockSettings> {
        self.context.release_settings().lock.as_deref()
    }

    async fn find(&self, version: &str, file: &str) -> Result<File, Error> {
        let limit = self.context.max_file_bytes();
        if let Some(found) = self.overrides.read(&self.label, version, file, limit)? {
            if let FileSource::Override(path) = &found.source {
                self.context.emit(&Event::UsingOverride {
                    path: path.clone(),
                    provider: self.label.clone(),
                    version: version.to_owned(),
                });
            }
            return Ok(found);
        }
        self.repository.read(version, file).await
    }
}

#[cfg(test)]
#[path = "overrides/tests.rs"]
mod tests;
