//! Reads of files and folders of a user: no pipes, devices and loops of links, which may have no end, and no more than a
//! limit.

use std::ffi::OsString;
use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The maximum size of a file without a lower limit.
pub const MAX_FILE_BYTES: u64 = 256 << 20;
/// The maximum number of files and folders of a walk. Links may lead to the same folder on many paths.
const MAX_ENTRIES: usize = 100_000;

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

/// A walk through a folder and its subfolders, in the order of names. A folder precedes its content.
pub struct FolderWalk<'a> {
    links: LinkPolicy,
    is_wanted: &'a dyn Fn(&WalkedEntry) -> bool,
    /// The folders around the next entry.
    open: Vec<OpenFolder>,
    remaining: usize,
}

/// Links to folders in a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    /// They are folders.
    Follow,
    /// They are files.
    Keep,
}

/// A file or folder of a walk. A link without a target is a file.
#[derive(Debug)]
pub struct WalkedEntry {
    /// The path in the folder of the walk.
    pub relative: PathBuf,
    /// The path that can be read.
    pub path: PathBuf,
    /// True for a folder.
    pub is_folder: bool,
}

/// A path that a walk cannot read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {error}", path.display())]
pub struct WalkError {
    pub(crate) path: PathBuf,
    pub(crate) error: io::Error,
}

struct OpenFolder {
    relative: PathBuf,
    path: PathBuf,
    /// The path without links.
    real: PathBuf,
    names: std::vec::IntoIter<(OsString, FileType)>,
}

impl WalkedEntry {
    /// Returns the path in the folder of the walk, with slashes.
    pub(crate) fn name(&self) -> String {
        let names: Vec<_> = self.relative.iter().map(|name| name.to_string_lossy()).collect();
        names.join("/")
    }
}

impl<'a> FolderWalk<'a> {
    /// Starts a walk that leaves out unwanted files, and unwanted folders with their content.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn new(
        folder: &Path,
        links: LinkPolicy,
        is_wanted: &'a dyn Fn(&WalkedEntry) -> bool,
    ) -> Result<Self, WalkError> {
        let mut walk = Self { links, is_wanted, open: Vec::new(), remaining: MAX_ENTRIES };
        let failed = |error| WalkError { path: folder.to_owned(), error };
        walk.open(PathBuf::new(), folder, fs::canonicalize(folder).map_err(failed)?).map_err(failed)?;
        Ok(walk)
    }

    fn open(&mut self, relative: PathBuf, path: &Path, real: PathBuf) -> io::Result<()> {
        if self.open.iter().any(|open| open.real == real) {
            return Err(io::Error::other("it is a link to a folder that contains it"));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&real)? {
            let entry = entry?;
            names.push((entry.file_name(), entry.file_type()?));
        }
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.open.push(OpenFolder { relative, path: path.to_owned(), real, names: names.into_iter() });
        Ok(())
    }
}

impl Iterator for FolderWalk<'_> {
    type Item = Result<WalkedEntry, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let folder = self.open.last_mut()?;
            let Some((name, kind)) = folder.names.next() else {
                self.open.pop();
                continue;
            };
            let (relative, path) = (folder.relative.join(&name), folder.path.join(&name));
            let failed = |path: &Path, error| Some(Err(WalkError { path: path.to_owned(), error }));
            let Some(remaining) = self.remaining.checked_sub(1) else {
                let top = self.open.swap_remove(0).path;
                self.open.clear();
                return failed(&top, io::Error::other(format!("it has more than {MAX_ENTRIES} entries")));
            };
            self.remaining = remaining;
            let is_followed = kind.is_symlink() && self.links == LinkPolicy::Follow;
            // The path of the entry may lead through many links, each of which the system resolves again.
            let own = folder.real.join(&name);
            let is_folder = if is_followed { own.is_dir() } else { kind.is_dir() };
            let entry = WalkedEntry { relative, path, is_folder };
            if !(self.is_wanted)(&entry) {
                continue;
            }
            if is_folder {
                let real = if is_followed { fs::canonicalize(own) } else { Ok(own) };
                let opened = real.and_then(|real| self.open(entry.relative.clone(), &entry.path, real));
                if let Err(error) = opened {
                    return failed(&entry.path, error);
                }
            }
            return Some(Ok(entry));
        }
    }
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

    #[test]
    fn walks_follow_links_but_no_loops() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["top/a", "top/b.d", "elsewhere"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        for name in ["top/a/2", "top/a/1", "top/b.d/.hidden", "elsewhere/x"] {
            fs::write(path(name), "").unwrap();
        }
        symlink("../../elsewhere", path("top/a/link")).unwrap();
        symlink("missing", path("top/broken")).unwrap();
        let walk = |links| {
            let is_wanted = |entry: &WalkedEntry| !entry.name().contains(".hidden");
            let entries = FolderWalk::new(&path("top"), links, &is_wanted).unwrap();
            let shown = |entry: Result<WalkedEntry, WalkError>| match entry {
                Ok(entry) if entry.is_folder => format!("{}/", entry.name()),
                Ok(entry) => entry.name(),
                Err(error) => {
                    format!("{}: {}", error.path.strip_prefix(path("")).unwrap().display(), error.error)
                }
            };
            entries.map(shown).collect::<Vec<_>>()
        };
        assert_eq!(walk(LinkPolicy::Keep), ["a/", "a/1", "a/2", "a/link", "b.d/", "broken"]);
        assert_eq!(walk(LinkPolicy::Follow), ["a/", "a/1", "a/2", "a/link/", "a/link/x", "b.d/", "broken"]);

        // Each of two such links alone would double the visits of each level.
        for name in ["one", "two"] {
            symlink(".", path(&format!("elsewhere/{name}"))).unwrap();
        }
        symlink("../..", path("top/b.d/up")).unwrap();
        let refused = |name: &str| format!("{name}: it is a link to a folder that contains it");
        assert_eq!(
            walk(LinkPolicy::Follow)[3..8],
            [
                "a/link/".to_owned(),
                refused("top/a/link/one"),
                refused("top/a/link/two"),
                "a/link/x".to_owned(),
                "b.d/".to_owned(),
            ]
        );
    }

    #[test]
    fn walks_along_many_paths_end() {
        let folder = tempfile::tempdir().unwrap();
        let level = |at: usize| folder.path().join(at.to_string());
        fs::create_dir(level(17)).unwrap();
        for at in 0..17 {
            fs::create_dir(level(at)).unwrap();
            for name in ["a", "b"] {
                symlink(level(at + 1), level(at).join(name)).unwrap();
            }
        }
        let (mut entries, mut errors) = (0, Vec::new());
        for entry in FolderWalk::new(&level(0), LinkPolicy::Follow, &|_| true).unwrap() {
            match entry {
                Ok(_) => entries += 1,
                Err(error) => errors.push((error.path, error.error.to_string())),
            }
        }
        assert_eq!(entries, MAX_ENTRIES);
        assert_eq!(errors, [(level(0), "it has more than 100000 entries".to_owned())]);
    }
}
