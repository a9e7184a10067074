//! Reads of files of a user: no pipes and devices, which may have no end, and no more than a limit.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The maximum size of a file without a lower limit.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// Reads a file. Links are followed.
///
/// # Errors
/// The file is a pipe, a device or a socket, has more bytes than the limit, or cannot be read.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    // Opening a pipe waits for its writer. Reading a folder is an error of the system.
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// Reads a file that must be text.
///
/// # Errors
/// Those of [`read_file`], or the file is not UTF-8.
pub(crate) fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(read_file(path, limit)?).map_err(invalid)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "four").unwrap();
        symlink(path("file"), path("link")).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(read_text(&path("link"), 4).unwrap(), "four");
        let refused = |name: &str, limit| read_file(&path(name), limit).unwrap_err().to_string();
        assert_eq!(refused("file", 3), "it has more than 3 bytes");
        assert_eq!(refused("endless", 4), "it is not a regular file");
        assert_eq!(refused("pipe", 4), "it is not a regular file");
        assert!(read_file(folder.path(), 4).is_err());
    }
}
