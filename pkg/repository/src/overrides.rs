use std::{
    io,
    path::{Path, PathBuf},
};

use transport::{
    Event,
    disk::read_limited,
    names::{check_file, check_version},
};

use crate::{Context, Error, File, LockSettings, Origin, Repository, local::plain_files};

/// A folder whose files win over those of a repository: `{root}/{label}/{version}/{file}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    root: Option<PathBuf>,
}

impl Overrides {
    /// Takes the files below one folder, whether it is there or not.
    pub fn in_folder(root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()) }
    }

    /// Picks the folder: the configured one; else `overrides` in the configuration folder of the user
    /// (`$XDG_CONFIG_HOME/cluster-api`) if there is one; else `overrides` in `$HOME/.cluster-api`.
    /// Source: clusterctl v1.14 client/repository/overrides.go.
    pub fn choose(configured: Option<&Path>, xdg: Option<&Path>, home: Option<&Path>) -> Self {
        if let Some(folder) = configured {
            return Self::in_folder(folder);
        }
        let xdg = xdg.map(|folder| folder.join("overrides"));
        let home = home.map(|folder| folder.join("overrides"));
        // An empty folder in the first place hides the second one, as for the peer.
        let root = if xdg.as_deref().is_some_and(Path::exists) { xdg } else { home.or(xdg) };
        Self { root }
    }

    /// The folder, if there can be one.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The file that would win, whether it is there or not.
    /// # Errors
    /// [`Error::UnsafeName`] when version or file would lead out of the folder.
    pub fn candidate(&self, label: &str, version: &str, file: &str) -> Result<Option<PathBuf>, Error> {
        check_version(label)?;
        check_version(version)?;
        check_file(file)?;
        Ok(self.root.as_ref().map(|root| root.join(label).join(version).join(file)))
    }

    /// Names of the overrides of one release, sorted; folders in it are passed over.
    /// # Errors
    /// [`Error::UnsafeName`] when label or version would lead out of the folder; when the folder cannot be read.
    pub fn files(&self, label: &str, version: &str) -> Result<Vec<String>, Error> {
        check_version(label)?;
        check_version(version)?;
        let Some(folder) = self.root.as_ref().map(|root| root.join(label).join(version)) else {
            return Ok(Vec::new());
        };
        match plain_files(&folder) {
            Err(Error::Transport(transport::Error::Read { source, .. }))
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(Vec::new())
            }
            listed => listed,
        }
    }

    /// Reads an override; none when there is none.
    /// # Errors
    /// When there is one that cannot be read, is a folder or is larger than `limit_bytes`.
    pub fn read(
        &self,
        label: &str,
        version: &str,
        file: &str,
        limit_bytes: u64,
    ) -> Result<Option<File>, Error> {
        let Some(path) = self.candidate(label, version, file)? else { return Ok(None) };
        let bytes = read_limited(&path, limit_bytes)?;
        Ok(bytes.map(|bytes| File { bytes, origin: Origin::Override(path) }))
    }
}

/// A repository with the overrides of its provider in front of it.
///
/// Listing versions and finding the latest one go past the overrides: use [`WithOverrides::repository`] for those.
#[derive(Debug)]
pub struct WithOverrides {
    repository: Box<dyn Repository>,
    overrides: Overrides,
    label: String,
    context: Context,
}

impl WithOverrides {
    /// Puts the overrides of a provider, by its label, in front of its repository.
    pub fn new(
        repository: Box<dyn Repository>,
        overrides: Overrides,
        label: impl Into<String>,
        context: Context,
    ) -> Self {
        Self { repository, overrides, label: label.into(), context }
    }

    /// The repository behind the overrides.
    pub fn repository(&self) -> &dyn Repository {
        &*self.repository
    }

    /// The overrides.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// The provider label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Reads a file of a pinned version: the override if there is one, else the file of the release.
    /// The repository is not touched when an override is there. Where there is a lock, the file is what was locked.
    /// # Errors
    /// As [`Overrides::read`], then as [`Repository::read`]; [`Error::NotAsLocked`].
    pub async fn read(&self, version: &str, file: &str) -> Result<File, Error> {
        let Some(lock) = self.lock() else { return self.find(version, file).await };
        let locked = lock.admit(&self.label, version, file)?;
        let found = self.find(version, file).await?;
        if let Some(locked) = locked {
            lock.verify((&self.label, version, file), locked, &found)?;
        }
        Ok(found)
    }

    /// The version that is locked; none where there is no lock, or the provider may be read unlocked.
    /// # Errors
    /// [`Error::NotAsLocked`] when only locked providers may be read, and this one is not.
    pub fn locked_version(&self) -> Result<Option<&str>, Error> {
        let Some(lock) = self.lock() else { return Ok(None) };
        let entry = lock.provider(&self.label)?;
        Ok(entry.map(|entry| entry.version.as_str()))
    }

    fn lock(&self) -> Option<&LockSettings> {
        self.context.releases().lock.as_deref()
    }

    async fn find(&self, version: &str, file: &str) -> Result<File, Error> {
        let limit = self.context.max_file_bytes();
        if let Some(found) = self.overrides.read(&self.label, version, file, limit)? {
            if let Origin::Override(path) = &found.origin {
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
