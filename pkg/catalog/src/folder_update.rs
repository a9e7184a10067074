//! The change of a folder to a wanted content. Files that are already as wanted keep their inode and their times.
//!
//! ```text
//! WantedFolder ─► delete all other entries ─► create folders, replace the files that differ, each at once
//! ```
//!
//! An interrupted change leaves some files of both versions. The next change compares all contents again, so that it
//! also completes an interrupted one.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

use crate::file_reading::{FolderWalk, LinkPolicy, WalkError, WalkedEntry};

/// The name of a file until its rename.
const NEW_FILE: &str = "new";

/// The wanted entries of a folder, by their paths in it.
#[derive(Debug, Default)]
pub(crate) struct WantedFolder<'a> {
    entries: BTreeMap<PathBuf, WantedEntry<'a>>,
}

/// The wanted content of a path.
#[derive(Debug)]
pub(crate) enum WantedEntry<'a> {
    /// A folder.
    Folder,
    /// A file with a content, and with permissions if they matter.
    Content(&'a [u8], Option<u32>),
    /// A copy of a file, with its permissions.
    CopyOf(PathBuf),
    /// A file or link that is moved here.
    Moved(PathBuf),
}

/// The entries of a folder that stay although nobody wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnlistedPolicy {
    /// Deletes all.
    Delete,
    /// Deletes all except for the hidden entries of the folder itself.
    KeepHidden,
    /// Keeps all.
    Keep,
}

/// A folder that cannot be changed.
#[derive(Debug)]
pub(crate) struct FolderUpdateError {
    pub(crate) action: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

impl From<WalkError> for FolderUpdateError {
    fn from(WalkError { path, error }: WalkError) -> Self {
        Self { action: "read", path, source: error }
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderUpdateError {
    let path = path.to_owned();
    move |source| FolderUpdateError { action, path, source }
}

impl<'a> WantedFolder<'a> {
    /// Adds an entry. A file takes the place of an earlier file with the same path.
    pub(crate) fn add(&mut self, path: PathBuf, entry: WantedEntry<'a>) {
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            self.entries.entry(folder.to_owned()).or_insert(WantedEntry::Folder);
        }
        self.entries.insert(path, entry);
    }

    /// Adds copies of all files of a folder. Links are followed.
    pub(crate) fn add_copy(&mut self, folder: &Path) -> Result<(), FolderUpdateError> {
        self.add_tree(folder, LinkPolicy::Follow, WantedEntry::CopyOf)
    }

    /// Adds all files and links of a folder, which lose their present place.
    pub(crate) fn add_moved(&mut self, folder: &Path) -> Result<(), FolderUpdateError> {
        self.add_tree(folder, LinkPolicy::Keep, WantedEntry::Moved)
    }

    fn add_tree(
        &mut self,
        folder: &Path,
        links: LinkPolicy,
        content: fn(PathBuf) -> WantedEntry<'a>,
    ) -> Result<(), FolderUpdateError> {
        for entry in FolderWalk::new(folder, links, &|_| true)? {
            let WalkedEntry { relative, path, is_folder } = entry?;
            let is_known_folder = |known: &WantedEntry<'_>| matches!(known, WantedEntry::Folder);
            let known = self.entries.get(&relative).map(is_known_folder);
            if known.is_some_and(|known| known != is_folder) {
                return Err(failed("copy", &path)(io::Error::other("it is a folder and a file")));
            }
            self.add(relative, if is_folder { WantedEntry::Folder } else { content(path) });
        }
        Ok(())
    }

    /// Changes a folder to these entries. New content is first written to a new folder in `temporary`, which is on
    /// the same file system.
    /// # Errors
    /// The folder is a link, and entries elsewhere would be deleted; or an entry cannot be changed.
    pub(crate) fn update(
        &self,
        folder: &Path,
        temporary: &Path,
        unlisted: UnlistedPolicy,
    ) -> Result<(), FolderUpdateError> {
        if unlisted != UnlistedPolicy::Keep && folder.is_symlink() {
            return Err(failed("change", folder)(io::Error::other("it is a link to another folder")));
        }
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
        if unlisted != UnlistedPolicy::Keep {
            self.delete_others(folder, Path::new(""), unlisted == UnlistedPolicy::KeepHidden)?;
        }
        let staging = StagingFolder { parent: temporary, folder: OnceCell::new() };
        for (path, entry) in &self.entries {
            let target = folder.join(path);
            match entry {
                WantedEntry::Folder => fs::create_dir_all(&target).map_err(failed("create", &target))?,
                entry if is_same(entry, &target) => {}
                entry => staging.replace(entry, &target)?,
            }
        }
        Ok(())
    }

    fn delete_others(
        &self,
        folder: &Path,
        prefix: &Path,
        keeps_hidden: bool,
    ) -> Result<(), FolderUpdateError> {
        for name in names(folder)? {
            if keeps_hidden && name.to_string_lossy().starts_with('.') {
                continue;
            }
            let (path, inner) = (folder.join(&name), prefix.join(&name));
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            match (self.entries.get(&inner), is_folder) {
                (Some(WantedEntry::Folder), true) => self.delete_others(&path, &inner, false)?,
                (_, true) => fs::remove_dir_all(&path).map_err(failed("delete", &path))?,
                (None | Some(WantedEntry::Folder), false) => {
                    fs::remove_file(&path).map_err(failed("delete", &path))?;
                }
                (Some(_), false) => {}
            }
        }
        Ok(())
    }
}

/// A folder for new content, which exists from the first file that differs.
struct StagingFolder<'a> {
    parent: &'a Path,
    folder: OnceCell<TempDir>,
}

impl StagingFolder<'_> {
    /// Replaces a file by a rename.
    fn replace(&self, entry: &WantedEntry<'_>, target: &Path) -> Result<(), FolderUpdateError> {
        let new = match entry {
            WantedEntry::Folder => return Ok(()),
            WantedEntry::Moved(from) => from.clone(),
            WantedEntry::CopyOf(from) => {
                let new = self.new_file()?;
                fs::copy(from, &new).map_err(failed("copy", from))?;
                new
            }
            WantedEntry::Content(content, mode) => {
                let new = self.new_file()?;
                fs::write(&new, content).map_err(failed("write", target))?;
                mode.map_or(Ok(()), |mode| set_mode(&new, mode)).map_err(failed("write", target))?;
                new
            }
        };
        put(&new, target).map_err(failed("write", target))
    }

    fn new_file(&self) -> Result<PathBuf, FolderUpdateError> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder.path().join(NEW_FILE));
        }
        let created = tempfile::Builder::new().prefix(".compiling-").tempdir_in(self.parent);
        let created = created.map_err(failed("create a folder in", self.parent))?;
        Ok(self.folder.get_or_init(|| created).path().join(NEW_FILE))
    }
}

/// Moves a file to a place, and deletes the earlier file there.
///
/// ext4 waits for the disk at a rename that replaces a file, which takes longer than most compilations. An exchange does
/// not wait. If the system fails before the content is on the disk, the next change replaces the file again.
#[cfg(target_os = "linux")]
fn put(new: &Path, place: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let is_file = fs::symlink_metadata(place).is_ok_and(|found| !found.is_dir());
    if is_file && renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE).is_ok() {
        return fs::remove_file(new);
    }
    fs::rename(new, place)
}

/// Moves a file to a place, and deletes the earlier file there.
#[cfg(not(target_os = "linux"))]
fn put(new: &Path, place: &Path) -> io::Result<()> {
    fs::rename(new, place)
}

/// True if a path already has the wanted content.
fn is_same(entry: &WantedEntry<'_>, path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let has_content = |content: &[u8]| fs::read(path).is_ok_and(|found| found == content);
    match entry {
        WantedEntry::Folder => found.is_dir(),
        WantedEntry::Content(content, mode) => {
            found.is_file()
                && found.len() == content.len() as u64
                && mode.is_none_or(|mode| mode == mode_of(&found))
                && has_content(content)
        }
        WantedEntry::CopyOf(from) | WantedEntry::Moved(from) => {
            let metadata = match entry {
                WantedEntry::Moved(_) => fs::symlink_metadata(from),
                _ => fs::metadata(from),
            };
            metadata.is_ok_and(|wanted| {
                if wanted.is_symlink() {
                    return found.is_symlink() && fs::read_link(path).ok() == fs::read_link(from).ok();
                }
                found.is_file()
                    && found.len() == wanted.len()
                    && found.permissions() == wanted.permissions()
                    && fs::read(from).is_ok_and(|content| has_content(&content))
            })
        }
    }
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<OsString>, FolderUpdateError> {
    let entries = fs::read_dir(folder).map_err(failed("read", folder))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(failed("read", folder))?.file_name());
    }
    names.sort();
    Ok(names)
}

/// Returns the permissions of a file.
#[cfg(unix)]
pub(crate) fn mode_of(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o777
}

/// Returns the permissions of a file, which this system does not keep.
#[cfg(not(unix))]
pub(crate) fn mode_of(_: &fs::Metadata) -> u32 {
    0
}

/// Gives a file permissions.
#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = fs::metadata(path)?.permissions();
    if permissions.mode() & 0o777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Gives a file permissions, which this system does not keep.
#[cfg(not(unix))]
pub(crate) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
