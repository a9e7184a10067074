use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write as _},
    path::Path,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use flate2::{Compression, GzBuilder, read::GzDecoder};
use tar::{Builder, EntryType, Header};

/// Files by path, without a leading `/`. Paths are sorted, so that equal trees give equal archives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileTree {
    entries: BTreeMap<String, Entry>,
}

/// The mode of folders that are not entries of their own.
const FOLDER_MODE: u32 = 0o755;

/// A file, a symbolic link, or a folder with a mode of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File { content: Arc<[u8]>, is_executable: bool },
    Link { target: String },
    Folder { mode: u32 },
}

impl Entry {
    /// Returns the mode of the entry in an archive.
    pub(super) fn mode(&self) -> u32 {
        match self {
            Self::File { is_executable: false, .. } => 0o644,
            Self::File { is_executable: true, .. } => 0o755,
            Self::Link { .. } => 0o777,
            Self::Folder { mode } => *mode,
        }
    }
}

impl FileTree {
    pub(super) fn add(&mut self, path: impl Into<String>, content: impl Into<Arc<[u8]>>) {
        self.add_entry(path, Entry::File { content: content.into(), is_executable: false });
    }

    pub(super) fn add_text(&mut self, path: impl Into<String>, text: impl AsRef<str>) {
        self.add(path, text.as_ref().as_bytes());
    }

    pub(super) fn add_program(&mut self, path: impl Into<String>, content: impl Into<Arc<[u8]>>) {
        self.add_entry(path, Entry::File { content: content.into(), is_executable: true });
    }

    pub(super) fn add_link(&mut self, path: impl Into<String>, target: impl Into<String>) {
        self.add_entry(path, Entry::Link { target: target.into() });
    }

    pub(super) fn add_entry(&mut self, path: impl Into<String>, entry: Entry) {
        self.entries.insert(path.into(), entry);
    }

    /// Returns all files and links, sorted by path.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Returns the content of a file.
    pub(super) fn content(&self, path: &str) -> Option<&Arc<[u8]>> {
        match self.entries.get(path)? {
            Entry::File { content, .. } => Some(content),
            Entry::Link { .. } | Entry::Folder { .. } => None,
        }
    }

    /// Returns the folders of all entries, parents first.
    pub(super) fn folders(&self) -> Vec<&str> {
        let mut folders: Vec<&str> =
            self.entries.keys().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at])).collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// Writes a tar archive with every path below `prefix`. Owners are root, and all times are `time`, in seconds since 1970.
    pub(super) fn to_tar(&self, prefix: &str, time: u64) -> Result<Vec<u8>> {
        let mut builder = Builder::new(Vec::new());
        for folder in self.folders() {
            let mut header = header(EntryType::Directory, FOLDER_MODE, time, 0);
            builder.append_data(&mut header, format!("{prefix}{folder}/"), &[][..])?;
        }
        for (path, entry) in self.entries() {
            let path = format!("{prefix}{path}");
            match entry {
                Entry::File { content, .. } => {
                    let mut header = header(EntryType::Regular, entry.mode(), time, content.len() as u64);
                    builder.append_data(&mut header, path, &content[..])?;
                }
                Entry::Link { target } => {
                    let mut header = header(EntryType::Symlink, entry.mode(), time, 0);
                    builder.append_link(&mut header, path, target)?;
                }
                Entry::Folder { mode } => {
                    let mut header = header(EntryType::Directory, *mode, time, 0);
                    builder.append_data(&mut header, format!("{path}/"), &[][..])?;
                }
            }
        }
        Ok(builder.into_inner()?)
    }

    /// Reads a compressed archive, and removes its top folder from each path.
    ///
    /// # Errors
    /// Those of [`FileTree::read_tar`].
    pub(super) fn read_tar_gz(archive: &[u8]) -> Result<Self> {
        let mut tree = Self::default();
        for (path, entry) in Self::read_tar(GzDecoder::new(archive))?.entries {
            if let Some((_, path)) = path.split_once('/') {
                tree.add_entry(path, entry);
            }
        }
        Ok(tree)
    }

    /// Reads an archive. Folders are omitted, unless they have a mode of their own.
    ///
    /// # Errors
    /// Fails if the archive is damaged, or has other entries than files, folders and links.
    pub(super) fn read_tar(archive: impl Read) -> Result<Self> {
        let mut tree = Self::default();
        for entry in tar::Archive::new(archive).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.to_string_lossy().trim_end_matches('/').to_owned();
            let mode = entry.header().mode()?;
            match entry.header().entry_type() {
                EntryType::Regular => {
                    let mut content = Vec::new();
                    entry.read_to_end(&mut content)?;
                    tree.add_entry(
                        path,
                        Entry::File { content: content.into(), is_executable: mode & 0o100 != 0 },
                    );
                }
                EntryType::Symlink => {
                    let target =
                        entry.link_name()?.with_context(|| format!("the link `{path}` has no target"))?;
                    tree.add_link(path, target.to_string_lossy());
                }
                EntryType::Directory if mode == FOLDER_MODE => {}
                EntryType::Directory => tree.add_entry(path, Entry::Folder { mode }),
                other => bail!("the entry `{path}` has the unexpected type {other:?}"),
            }
        }
        Ok(tree)
    }

    /// Writes all files below a folder.
    pub(super) fn write_to(&self, folder: &Path) -> Result<()> {
        for (path, entry) in self.entries() {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
            }
            write_entry(&path, entry).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        Ok(())
    }
}

fn header(kind: EntryType, mode: u32, time: u64, size_bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(time);
    header.set_size(size_bytes);
    header
}

#[cfg(unix)]
fn write_entry(path: &Path, entry: &Entry) -> std::io::Result<()> {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    match entry {
        Entry::Link { target } => symlink(target, path),
        Entry::Folder { mode } => {
            fs::create_dir_all(path)?;
            fs::set_permissions(path, fs::Permissions::from_mode(*mode))
        }
        Entry::File { content, .. } => {
            fs::write(path, content)?;
            fs::set_permissions(path, fs::Permissions::from_mode(entry.mode()))
        }
    }
}

#[cfg(not(unix))]
fn write_entry(path: &Path, entry: &Entry) -> std::io::Result<()> {
    match entry {
        Entry::Link { target } => fs::write(path, target),
        Entry::Folder { .. } => fs::create_dir_all(path),
        Entry::File { content, .. } => fs::write(path, content),
    }
}

/// Compresses without a file name and a time.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> FileTree {
        let mut tree = FileTree::default();
        tree.add_text("share/doc/a", "text");
        tree.add_program("bin/a", &b"#!/bin/sh\n"[..]);
        tree.add_link("bin/b", "a");
        tree
    }

    #[test]
    fn an_archive_is_sorted_owned_by_root_and_has_one_time() {
        let archive = tree().to_tar("top/", 1000).unwrap();
        let mut archive = tar::Archive::new(&archive[..]);
        let line = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
            let entry = entry.unwrap();
            let header = entry.header();
            let owner = (header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap());
            assert_eq!(owner, (0, 0, 1000));
            format!("{:o} {}", header.mode().unwrap(), entry.path().unwrap().display())
        };
        assert_eq!(
            archive.entries().unwrap().map(line).collect::<Vec<_>>(),
            [
                "755 top/bin/",
                "755 top/share/",
                "755 top/share/doc/",
                "755 top/bin/a",
                "777 top/bin/b",
                "644 top/share/doc/a"
            ]
        );
    }

    #[test]
    fn a_compressed_archive_reads_back_and_has_no_time() {
        let archive = gzip(&tree().to_tar("top/", 1000).unwrap()).unwrap();
        assert_eq!(archive[4..8], [0; 4]);
        assert_eq!(FileTree::read_tar_gz(&archive).unwrap(), tree());
        assert!(FileTree::read_tar_gz(&archive[..archive.len() / 2]).is_err());
    }
}
