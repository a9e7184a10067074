//! Artifacts: gzipped tar archives, unpacked in memory.

use std::io::{self, Read as _};

use chart::MemoryTree;
use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

/// The most bytes of all files of an artifact.
const MAX_BYTES: u64 = 256 << 20;
/// The most entries of an artifact.
const MAX_ENTRIES: usize = 100_000;

/// An archive that is not accepted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ArchiveError {
    #[error("the archive cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("archive must not contain entries with absolute paths ({path})")]
    AbsolutePath { path: String },
    #[error("archive must not contain entries outside of its root ({path})")]
    ParentPath { path: String },
    #[error("archive must not contain entries other than files and folders ({path} is a {kind})")]
    EntryType { path: String, kind: String },
    #[error("archive must not contain a file and a folder of the same path ({path})")]
    FileAndFolder { path: String },
    #[error("the archive has more than {MAX_ENTRIES} entries")]
    TooMany,
    #[error("the files of the archive have more than {MAX_BYTES} bytes")]
    TooLarge,
}

/// Unpacks an archive in memory.
/// # Errors
/// Damaged archives, links, devices, paths that are absolute, leave the archive or are files and folders at once, and archives
/// that are too large.
pub fn unpack(bytes: &[u8]) -> Result<MemoryTree, ArchiveError> {
    // Headers count too, so that an archive without content cannot be endless.
    let mut archive = Archive::new(MultiGzDecoder::new(bytes).take(MAX_BYTES * 2));
    let (mut files, mut left) = (Vec::new(), MAX_BYTES);
    let unreadable = |error| ArchiveError::Unreadable(api::tar_error(error));
    for (at, entry) in archive.entries().map_err(unreadable)?.enumerate() {
        if at >= MAX_ENTRIES {
            return Err(ArchiveError::TooMany);
        }
        let mut entry = entry.map_err(unreadable)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => continue,
            EntryType::Directory => {
                check_path(&path)?;
                continue;
            }
            EntryType::Regular | EntryType::Continuous => check_path(&path)?,
            other => return Err(ArchiveError::EntryType { path, kind: format!("{other:?}").to_lowercase() }),
        }
        left = left.checked_sub(entry.size()).ok_or(ArchiveError::TooLarge)?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(unreadable)?;
        files.push((path, content));
    }
    // The archive ends before its checksum.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(unreadable)?;
    if rest.limit() == 0 {
        return Err(ArchiveError::TooLarge);
    }
    tree(files)
}

/// Returns the tree of files.
/// # Errors
/// A file with the path of a folder, which would hide the files of the folder.
pub(super) fn tree(files: Vec<(impl AsRef<str>, Vec<u8>)>) -> Result<MemoryTree, ArchiveError> {
    let tree: MemoryTree = files.into_iter().collect();
    match tree.file_and_folder() {
        Some(path) => Err(ArchiveError::FileAndFolder { path: path.as_str()[1..].to_owned() }),
        None => Ok(tree),
    }
}

/// Checks that a path stays in its archive.
pub(super) fn check_path(path: &str) -> Result<(), ArchiveError> {
    let path = || path.to_owned();
    match path() {
        text if text.starts_with(['/', '\\']) => Err(ArchiveError::AbsolutePath { path: path() }),
        text if text.split(['/', '\\']).any(|name| name == "..") => {
            Err(ArchiveError::ParentPath { path: path() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use chart::{Tree as _, TreePath};
    use flate2::{Compression, write::GzEncoder};
    use snapbox::{assert_data_eq, str};
    use tar::{Builder, Header};

    use super::*;

    fn packed(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            // The builder refuses names with `..`.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn files_are_unpacked_by_path() {
        let tree = unpack(&packed(&[
            ("./", EntryType::Directory, b""),
            ("./a/b.yaml", EntryType::Regular, b"1"),
            ("c", EntryType::Regular, b""),
        ]));
        let tree = tree.unwrap();
        assert_eq!(tree.list(&TreePath::new("/")).unwrap(), ["a", "c"]);
        assert_eq!(&*tree.read(&TreePath::new("/a/b.yaml")).unwrap(), b"1");
    }

    // Row: D-543
    #[test]
    fn links_climbing_paths_and_damaged_archives_are_refused() {
        let refused = |path: &str, kind| unpack(&packed(&[(path, kind, b"")])).unwrap_err().to_string();
        let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
        let mut header = Header::new_gnu();
        header.set_size(MAX_BYTES + 1);
        header.set_cksum();
        bomb.write_all(header.as_bytes()).unwrap();
        assert_data_eq!(
            [
                refused("../a", EntryType::Regular),
                refused("a/../../b/", EntryType::Directory),
                refused("/etc/a", EntryType::Regular),
                refused("l", EntryType::Symlink),
                refused("h", EntryType::Link),
                unpack(&packed(&[
                    ("a", EntryType::Regular, b""),
                    ("a-b", EntryType::Regular, b""),
                    ("./a/b.yaml", EntryType::Regular, b""),
                ]))
                .unwrap_err()
                .to_string(),
                unpack(&bomb.finish().unwrap()).unwrap_err().to_string(),
            ]
            .join("\n"),
            str![[r#"
archive must not contain entries outside of its root (../a)
archive must not contain entries outside of its root (a/../../b/)
archive must not contain entries with absolute paths (/etc/a)
archive must not contain entries other than files and folders (l is a symlink)
archive must not contain entries other than files and folders (h is a link)
archive must not contain a file and a folder of the same path (a)
the files of the archive have more than 268435456 bytes
"#]]
        );
        let whole = packed(&[("a", EntryType::Regular, &[7; 5000])]);
        assert!(unpack(&whole).is_ok());
        for end in [whole.len() / 2, whole.len() - 1] {
            assert!(unpack(&whole[..end]).is_err(), "{end}");
        }
        for at in 1..=8 {
            let mut other = whole.clone();
            other[whole.len() - at] ^= 1;
            assert!(unpack(&other).is_err(), "{at} bytes before the end");
        }
        assert!(unpack(b"no archive").is_err());
    }
}
