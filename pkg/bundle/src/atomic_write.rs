//! Atomic writes of files.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use transport::disk::{self, folder_of};

use crate::BundleError;

/// The name prefix of incomplete files and folders.
pub(super) const TEMPORARY_PREFIX: &str = ".capstan-new-";

/// Returns the path of the file to write: that of the target if the path is a link.
/// # Errors
/// Fails if something else than a file exists there, such as a folder or a device.
pub(super) fn writable_file(path: &Path) -> Result<PathBuf, BundleError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {
            fs::canonicalize(path).map_err(|source| BundleError::Write { path: path.to_owned(), source })
        }
        Ok(_) => Err(BundleError::NoFile { path: path.to_owned() }),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Writes a temporary file next to the path, makes it readable for everybody, syncs it to disk and renames it.
pub(super) fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), BundleError>,
) -> Result<File, BundleError> {
    let failed = |source| BundleError::Write { path: path.to_owned(), source };
    let made = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder_of(path));
    let mut file = made.map_err(failed)?;
    fill(file.as_file_mut())?;
    allow_reading(file.as_file()).map_err(failed)?;
    disk::persist(file, path).map_err(failed)
}

/// Makes the file readable for everybody: bundles contain no secrets and are copied between machines.
#[cfg(unix)]
fn allow_reading(file: &File) -> io::Result<()> {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};
    file.set_permissions(Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &File) -> io::Result<()> {
    Ok(())
}
