use std::{
    fs, io,
    path::{Path, PathBuf},
};

use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    disk::{read_error, read_limited},
    names::{check_file, check_version},
};

use crate::{Error, File, FileSource, LocalLocation, Repository, repository};

/// Local folders `{base}/{label}/{version}`. Reads with `std::fs` inside the future, without threads or a runtime.
#[derive(Debug)]
pub(crate) struct LocalRepository {
    location: LocalLocation,
    folder: PathBuf,
    max_file_bytes: u64,
}

impl LocalRepository {
    pub(crate) fn new(location: LocalLocation, max_file_bytes: u64) -> Self {
        let folder = location.base.join(&location.label);
        Self { location, folder, max_file_bytes }
    }

    /// Lists the folders whose name is a semantic version, oldest first, and all other names.
    /// Source: clusterctl v1.14 client/repository/repository_local.go (GetVersions). Differs: symlinks to folders
    /// count.
    fn list_versions(&self) -> Result<(Vec<Version>, Vec<String>), Error> {
        let failed = |source| read_error(&self.folder, source);
        let (mut versions, mut ignored) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            match Version::parse(&name) {
                Ok(version) if version.as_str() == name.trim() && entry.path().is_dir() => {
                    versions.push(version);
                }
                _ => ignored.push(name.into_owned()),
            }
        }
        versions.sort_by(|a, b| a.cmp(b).then_with(|| a.as_str().cmp(b.as_str())));
        ignored.sort_unstable();
        Ok((versions, ignored))
    }

    fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        check_version(version)?;
        check_file(file)?;
        let path = self.folder.join(version).join(file);
        if let Some(bytes) = read_limited(&path, self.max_file_bytes)? {
            return Ok(File { bytes, source: FileSource::Local(path) });
        }
        let release = self.release_folder(version)?;
        let path = release.join(file);
        match read_limited(&path, self.max_file_bytes)? {
            Some(bytes) => Ok(File { bytes, source: FileSource::Local(path) }),
            None => Err(Error::UnknownFile {
                file: file.to_owned(),
                version: version.to_owned(),
                place: self.display_address(),
                looked_at: path.display().to_string(),
                available: file_names(&release),
            }),
        }
    }

    /// The folder of a version in any spelling: version `v1.2.3` may be in folder `1.2.3`.
    fn release_folder(&self, version: &str) -> Result<PathBuf, Error> {
        let exact = self.folder.join(version);
        if exact.is_dir() {
            return Ok(exact);
        }
        let missing = |available: Vec<Version>| Error::UnknownRelease {
            version: version.to_owned(),
            place: self.display_address(),
            available: available.iter().map(|version| version.as_str().to_owned()).collect(),
        };
        let versions = match self.list_versions() {
            Ok((versions, _)) => versions,
            Err(Error::Transport(transport::Error::Read { source, .. }))
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        let wanted = Version::parse(version).map_err(|_| missing(versions.clone()))?;
        match versions.iter().find(|found| found.semver() == wanted.semver()) {
            Some(found) => Ok(self.folder.join(found.as_str())),
            None => Err(missing(versions)),
        }
    }
}

impl Repository for LocalRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        repository::default_version(self, &self.location.version)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            let (versions, ignored) = self.list_versions()?;
            repository::require_versions(self, versions, ignored)
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        async move { self.read_file(version, file) }.boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            check_version(version)?;
            list_files(&self.release_folder(version)?)
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn display_address(&self) -> String {
        self.folder.display().to_string()
    }
}

/// The names of the files in a folder, sorted.
pub(crate) fn list_files(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| read_error(folder, error))?;
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    Ok(names)
}

/// Up to 100 names in a folder, sorted, for error messages.
fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.take(100).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
#[path = "local/tests.rs"]
mod tests;
