use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use api::{Version, VersionOrLatest};
use bytes::Bytes;
use futures::FutureExt as _;

use crate::{
    BoxFuture, Context, Error, File, LocalLocation, Origin, Repository,
    names::{check_file, check_version},
    reader,
};

/// Folders `{base}/{label}/{version}`. Reads with `std::fs` inside the future: no thread, no runtime.
#[derive(Debug)]
pub(crate) struct Local {
    location: LocalLocation,
    folder: PathBuf,
    max_file_bytes: u64,
}

impl Local {
    pub(crate) fn new(location: LocalLocation, max_file_bytes: u64) -> Self {
        let folder = location.base.join(&location.label);
        Self { location, folder, max_file_bytes }
    }

    /// Lists folders with a semantic version as name, oldest first, and the other names.
    /// Source: clusterctl v1.14 client/repository/repository_local.go (GetVersions); differs: links to folders count.
    fn list(&self) -> Result<(Vec<Version>, Vec<String>), Error> {
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

    fn read_now(&self, version: &str, file: &str) -> Result<File, Error> {
        check_version(version)?;
        check_file(file)?;
        let path = self.folder.join(version).join(file);
        if let Some(bytes) = read_limited(&path, self.max_file_bytes)? {
            return Ok(File { bytes, origin: Origin::Local(path) });
        }
        let release = self.release_folder(version)?;
        let path = release.join(file);
        match read_limited(&path, self.max_file_bytes)? {
            Some(bytes) => Ok(File { bytes, origin: Origin::Local(path) }),
            None => Err(Error::NoFile {
                file: file.to_owned(),
                version: version.to_owned(),
                place: self.place(),
                looked_at: path.display().to_string(),
                available: file_names(&release),
            }),
        }
    }

    /// The folder of a version, however it is spelled: `v1.2.3` is found in `1.2.3` too.
    fn release_folder(&self, version: &str) -> Result<PathBuf, Error> {
        let exact = self.folder.join(version);
        if exact.is_dir() {
            return Ok(exact);
        }
        let missing = |available: Vec<Version>| Error::NoRelease {
            version: version.to_owned(),
            place: self.place(),
            available: available.iter().map(|version| version.as_str().to_owned()).collect(),
        };
        let versions = match self.list() {
            Ok((versions, _)) => versions,
            Err(Error::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let wanted = Version::parse(version).map_err(|_| missing(versions.clone()))?;
        match versions.iter().find(|found| found.semver() == wanted.semver()) {
            Some(found) => Ok(self.folder.join(found.as_str())),
            None => Err(missing(versions)),
        }
    }
}

impl Repository for Local {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        reader::default_version(self, &self.location.version)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            match self.list()? {
                (versions, ignored) if versions.is_empty() => {
                    Err(Error::NoVersions { place: self.place(), ignored })
                }
                (versions, _) => Ok(versions),
            }
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        async move { self.read_now(version, file) }.boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            check_version(version)?;
            plain_files(&self.release_folder(version)?)
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn place(&self) -> String {
        self.folder.display().to_string()
    }
}

/// Reads a file that belongs to no repository, such as a template of the user's own.
/// # Errors
/// When it is not there, is a folder, larger than the limit of the context, or cannot be read; each names the path.
pub fn read_file(context: &Context, path: &Path) -> Result<File, Error> {
    match read_limited(path, context.max_file_bytes())? {
        Some(bytes) => Ok(File { bytes, origin: Origin::Local(path.to_owned()) }),
        None => Err(read_error(path, io::Error::new(io::ErrorKind::NotFound, "there is no such file"))),
    }
}

/// Reads a whole file; none when there is none.
/// # Errors
/// When it is a folder, larger than the limit, or cannot be read; each names the path.
pub(crate) fn read_limited(path: &Path, limit_bytes: u64) -> Result<Option<Bytes>, Error> {
    use io::Read as _;
    let too_large = || Error::TooLarge { place: path.display().to_string(), limit_bytes };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(read_error(path, error)),
    };
    let metadata = file.metadata().map_err(|error| read_error(path, error))?;
    if metadata.is_dir() {
        return Err(Error::IsFolder { path: path.to_owned() });
    }
    if metadata.len() > limit_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // The size of a pipe or a growing file is not known in advance.
    file.take(limit_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| read_error(path, error))?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_large());
    }
    Ok(Some(Bytes::from(bytes)))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

pub(crate) fn read_error(path: &Path, source: io::Error) -> Error {
    Error::Read { path: path.to_owned(), source: Arc::new(source) }
}

/// Names of the files in a folder, sorted.
pub(crate) fn plain_files(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| read_error(folder, error))?;
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    Ok(names)
}

/// Names in a folder, sorted, at most a hundred: they are shown to people.
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
