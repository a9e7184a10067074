//! Atomic writes of files.

use std::{fs::File, io, path::Path};

use transport::disk::{self, folder_of};

use crate::BundleError;

/// The name prefix of incomplete files and folders.
pub(super) const TEMPORARY_PREFIX: &str = ".capstan-new-";

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
