//! Files: reads with a size limit, concurrent reads, and renames that survive a crash of the machine.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use tempfile::NamedTempFile;

use crate::Error;

/// Reads a whole file. None if the file does not exist.
/// # Errors
/// Fails if the path is a folder, if the file is too large, or if it cannot be read. Each error names the path.
pub fn read_limited(path: &Path, limit_bytes: u64) -> Result<Option<Bytes>, Error> {
    match read_file(path, limit_bytes) {
        Ok(bytes) => Ok(Some(Bytes::from(bytes))),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::IsADirectory => Error::IsFolder { path: path.to_owned() },
            io::ErrorKind::FileTooLarge => Error::TooLarge { place: path.display().to_string(), limit_bytes },
            _ => read_error(path, error),
        }),
    }
}

/// Reads a whole file. The error does not name the path.
/// # Errors
/// Fails if the file does not exist, if the path is a folder, if the file is too large, or if it cannot be read.
pub fn read_file(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let reason = format!("the file is larger than {limit_bytes} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, reason)
    };
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.len() > limit_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // The size of a pipe or a growing file is unknown in advance.
    if file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)? as u64 > limit_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the error for a file or folder that cannot be read.
pub fn read_error(path: &Path, source: io::Error) -> Error {
    Error::Read { path: path.to_owned(), source: Arc::new(source) }
}

/// An open file for concurrent reads at different offsets. Cheap to clone. The file may be unnamed.
#[derive(Clone, Debug)]
pub struct SharedFile(Arc<Mutex<File>>);

impl SharedFile {
    /// Wraps an open file.
    pub fn new(file: File) -> Self {
        Self(Arc::new(Mutex::new(file)))
    }

    /// Opens a file.
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self::new)
    }

    /// Fills `piece` with the bytes at `offset`.
    /// # Errors
    /// Fails if the file cannot be read or ends too early.
    pub fn read_at(&self, offset: u64, piece: &mut [u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(piece)
    }
}

/// Renames a file or folder, and syncs the parent folder of the new name to disk.
/// # Errors
/// Fails if the rename fails or the disk reports an error.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Renames a temporary file to its final name, and syncs content and name to disk.
/// # Errors
/// Fails if the rename fails or the disk reports an error.
pub fn persist(file: NamedTempFile, to: &Path) -> io::Result<File> {
    file.as_file().sync_all()?;
    let file = file.persist(to).map_err(|failed| failed.error)?;
    sync_folder(folder_of(to))?;
    Ok(file)
}

/// Returns the folder of a file; `.` for a path without a folder.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems do not support this call, and some folders are writable but not readable.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Other systems cannot open a folder and sync names themselves.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_replaces_the_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        rename(&from, &to).unwrap();
        assert_eq!((fs::read_to_string(&to).unwrap().as_str(), from.exists()), ("new", false));
        assert_eq!(folder_of(Path::new("name")), Path::new("."));
    }

    #[test]
    fn a_rename_into_a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = NamedTempFile::new_in(folder.path()).unwrap();
        assert!(persist(file, &folder.path().join("none/to")).is_err());
    }
}
