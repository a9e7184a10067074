use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use api::Explain;
use transport::disk::folder_of;

/// An error while writing a file. An existing file is unchanged.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", path.display())]
pub(crate) struct OutputError {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

impl Explain for OutputError {}

/// Writes a file completely or not at all, through a temporary file that replaces the target.
/// Shape: a new file gets `mode` (Unix), and an existing file keeps its mode. A symbolic link stays and its target is
/// replaced. Devices and pipes such as `/dev/stdout` are written directly. An existing file in a folder without write
/// access is written in place. Only there a full disk can leave an incomplete file.
pub(crate) fn write_file_atomically(path: &Path, content: &[u8], mode: u32) -> Result<(), OutputError> {
    write(path, content, FileMode::NewFile(mode))
        .map_err(|source| OutputError { path: path.to_owned(), source })
}

/// Writes a file with secrets as [`write_file_atomically`] does. An existing file also becomes readable by its
/// owner only.
pub(crate) fn write_private_file(path: &Path, content: &[u8]) -> Result<(), OutputError> {
    write(path, content, FileMode::Private).map_err(|source| OutputError { path: path.to_owned(), source })
}

/// The permissions of a file after the write.
#[derive(Clone, Copy)]
enum FileMode {
    /// This mode for a new file. An existing file keeps its mode.
    NewFile(u32),
    Private,
}

impl FileMode {
    fn bits(self) -> u32 {
        match self {
            Self::NewFile(mode) => mode,
            Self::Private => 0o600,
        }
    }
}

fn write(path: &Path, content: &[u8], mode: FileMode) -> io::Result<()> {
    if is_stream(path) {
        return append_to_stream(path, content);
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if found.is_file() => replace(&fs::canonicalize(path)?, content, &found, mode),
        Ok(_) => append_to_stream(path, content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(&link_target(path), content, mode.bits())
        }
        Err(error) => Err(error),
    }
}

/// True for the names of process streams. The stream may be a regular file, which must be appended to, not replaced.
fn is_stream(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    path == Path::new("/dev/stdout")
        || path == Path::new("/dev/stderr")
        || folders.iter().any(|folder| path.starts_with(folder))
}

/// Returns the target of a dangling link, or else the path itself.
fn link_target(path: &Path) -> PathBuf {
    match fs::read_link(path) {
        Ok(link) => folder_of(path).join(link),
        Err(_) => path.to_owned(),
    }
}

fn append_to_stream(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().append(true).open(path)?.write_all(content)
}

fn create(target: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    persist(create_temporary(target, content, mode)?, target)
}

fn replace(target: &Path, content: &[u8], old: &fs::Metadata, mode: FileMode) -> io::Result<()> {
    // Replacing a file needs no write permission on the file, but capstan requires it.
    fs::OpenOptions::new().write(true).open(target)?;
    let written = create_temporary(target, content, 0o600).and_then(|temporary| {
        if matches!(mode, FileMode::NewFile(_)) {
            temporary.as_file().set_permissions(old.permissions())?;
        }
        keep_owner(temporary.as_file(), old);
        persist(temporary, target)
    });
    match written {
        // The folder may be read-only, or the file may be a single mount in a container.
        Err(error) if cannot_rename(&error) => write_in_place(target, content, mode),
        written => written,
    }
}

/// Renames a complete file to its target. Makes the rename durable if the file system supports it.
fn persist(temporary: tempfile::NamedTempFile, target: &Path) -> io::Result<()> {
    temporary.persist(target).map_err(|error| error.error)?;
    #[cfg(unix)]
    let _ = fs::File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    Ok(())
}

fn write_in_place(target: &Path, content: &[u8], mode: FileMode) -> io::Result<()> {
    #[cfg(unix)]
    if matches!(mode, FileMode::Private) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(target, fs::Permissions::from_mode(mode.bits()))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    fs::write(target, content)
}

fn cannot_rename(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy | CrossesDevices)
}

fn create_temporary(target: &Path, content: &[u8], mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".capstan-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    let mut temporary =
        builder.tempfile_in(folder_of(target)).map_err(|error| strip_temporary_name(&error))?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Removes the name of the temporary file from an error, because the user does not know that name.
fn strip_temporary_name(error: &io::Error) -> io::Error {
    match error.kind() {
        kind @ io::ErrorKind::NotFound => io::Error::new(kind, "the folder does not exist"),
        kind => io::Error::from(kind),
    }
}

/// Keeps the owner if possible. Only a privileged user can change an owner, and only then it matters.
#[cfg(unix)]
fn keep_owner(file: &fs::File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_existing_file_is_replaced_without_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.yaml");
        write_file_atomically(&path, b"one", 0o600).unwrap();
        write_file_atomically(&path, b"two", 0o600).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(folder.path()), ["out.yaml"]);
    }

    #[test]
    fn a_missing_folder_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/out.yaml");
        let error = write_file_atomically(&path, b"one", 0o600).unwrap_err();
        assert_eq!(error.path, path);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_folder_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_file_atomically(folder.path(), b"one", 0o600).is_err());
        assert!(folder.path().is_dir());
    }

    // Row: D-60, D-264
    #[cfg(unix)]
    #[test]
    fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.yaml");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        write_file_atomically(&path, b"one", 0o600).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write_file_atomically(&path, b"two", 0o600).unwrap();
        assert_eq!(mode(), 0o644);
    }

    // Row: D-264
    #[cfg(unix)]
    #[test]
    fn a_file_with_secrets_becomes_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write_private_file(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_target_gets_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink("target", &link).unwrap();
        for content in [b"one", b"two"] {
            write_file_atomically(&link, content, 0o600).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&target).unwrap(), content);
        }
    }
}
