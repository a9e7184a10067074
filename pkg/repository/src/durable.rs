//! Names that a crash of the machine does not take back.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use tempfile::NamedTempFile;

/// Renames a file or a folder, and waits until the folder of its new name is on the disk.
/// # Errors
/// When it cannot be renamed, or the disk fails.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Gives a temporary file its name, and waits until content and name are on the disk.
/// # Errors
/// When it cannot be renamed, or the disk fails.
pub(crate) fn persist(file: NamedTempFile, to: &Path) -> io::Result<File> {
    file.as_file().sync_all()?;
    let file = file.persist(to).map_err(|failed| failed.error)?;
    sync_folder(folder_of(to))?;
    Ok(file)
}

/// The folder of a file, also where its path is a name alone.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot, and some folders may be written to and not read.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Elsewhere a folder cannot be opened; the system sees to its names.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_renamed_replaces_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        rename(&from, &to).unwrap();
        assert_eq!((fs::read_to_string(&to).unwrap().as_str(), from.exists()), ("new", false));
        assert_eq!(folder_of(Path::new("name")), Path::new("."));
    }

    #[test]
    fn a_rename_into_no_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = NamedTempFile::new_in(folder.path()).unwrap();
        assert!(persist(file, &folder.path().join("none/to")).is_err());
    }
}
