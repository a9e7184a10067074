//! The results of earlier runs on disk: the files of each target, with the facts that they depend on.
//!
//! ```text
//! one entry of the store for each working folder and cluster: header in JSON, line feed, contents of the files
//! ```
//!
//! The key names the build of the program, so that another build never uses its results. The store verifies the digest
//! of the whole entry; a missing, foreign or damaged entry only means that targets are rendered again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use transport::Store;

use super::fact::Fact;
use super::files;
use crate::folder_update::{WantedEntry, WantedFolder, mode_of};

/// The maximum size of an entry.
const MAX_BYTES: u64 = 256 << 20;
/// The format of an entry. It changes with the meaning of facts.
const FORMAT: u32 = 1;

/// The results of earlier runs.
pub(crate) struct ResultCache<'a> {
    store: &'a Store,
    key: String,
    pub(crate) targets: BTreeMap<String, CachedTarget>,
}

/// The result of one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CachedTarget {
    /// The facts that the result depends on, with their digests.
    pub(crate) facts: BTreeMap<Fact, String>,
    pub(crate) messages: Vec<String>,
    pub(crate) files: OutputFiles,
}

/// The files in the folder of a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OutputFiles {
    folders: BTreeSet<String>,
    /// The permissions and the content of each file.
    files: BTreeMap<String, (u32, Bytes)>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    targets: BTreeMap<String, TargetHeader>,
}

#[derive(Serialize, Deserialize)]
struct TargetHeader {
    facts: Vec<(Fact, String)>,
    messages: Vec<String>,
    folders: BTreeSet<String>,
    /// The path, the permissions and the length of each file, in the order of the contents.
    files: Vec<(String, u32, usize)>,
}

impl<'a> ResultCache<'a> {
    /// Reads the results of a scope: a program, a cluster and a working folder. A failure gives an empty cache.
    pub(crate) fn open(store: &'a Store, scope: &str) -> Self {
        let key = format!("catalog {FORMAT} {scope}");
        let read = store.read_named(&key, MAX_BYTES).ok().flatten();
        let targets = read.and_then(|bytes| parse(&key, &bytes)).unwrap_or_default();
        Self { store, key, targets }
    }

    /// Replaces the results.
    ///
    /// # Errors
    /// The store cannot be written. The results of earlier runs stay valid.
    pub(crate) fn save(&self, targets: BTreeMap<String, CachedTarget>) -> Result<(), transport::Error> {
        let bytes = serialize(&self.key, targets);
        if bytes.len() as u64 > MAX_BYTES { Ok(()) } else { self.store.write_named(&self.key, bytes.into()) }
    }
}

fn serialize(key: &str, targets: BTreeMap<String, CachedTarget>) -> Vec<u8> {
    let mut contents: Vec<Bytes> = Vec::new();
    let mut header = Header { key: key.to_owned(), targets: BTreeMap::new() };
    for (name, CachedTarget { facts, messages, files }) in targets {
        let mut listed = Vec::new();
        for (path, (mode, content)) in &files.files {
            contents.push(content.clone());
            listed.push((path.clone(), *mode, content.len()));
        }
        let facts = facts.into_iter().collect();
        header.targets.insert(name, TargetHeader { facts, messages, folders: files.folders, files: listed });
    }
    files::join(&header, contents.iter().map(|content| &**content))
}

/// Returns the results of an entry. None if it is not whole.
fn parse(key: &str, bytes: &Bytes) -> Option<BTreeMap<String, CachedTarget>> {
    let (header, mut contents): (Header, _) = files::split(bytes)?;
    if header.key != key {
        return None;
    }
    let mut targets = BTreeMap::new();
    for (name, target) in header.targets {
        let mut files = OutputFiles { folders: target.folders, files: BTreeMap::new() };
        for (path, mode, length) in target.files {
            let content = contents.next(length).filter(|_| is_inside(&path))?;
            files.files.insert(path, (mode, content));
        }
        if !files.folders.iter().all(|folder| is_inside(folder)) {
            return None;
        }
        let facts = target.facts.into_iter().collect();
        targets.insert(name, CachedTarget { facts, messages: target.messages, files });
    }
    contents.is_empty().then_some(targets)
}

/// True if a path stays in its folder.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

impl OutputFiles {
    /// Reads the files of a folder.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut files = Self::default();
        files.add(folder, "")?;
        Ok(files)
    }

    fn add(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| io::Error::other("a file name is not valid UTF-8"))?;
            let (path, kind) = (format!("{prefix}{name}"), entry.file_type()?);
            if kind.is_dir() {
                self.add(&entry.path(), &format!("{path}/"))?;
                self.folders.insert(path);
            } else if kind.is_file() {
                let mode = mode_of(&entry.metadata()?);
                self.files.insert(path, (mode, fs::read(entry.path())?.into()));
            } else {
                return Err(io::Error::other("a compiled file is a link"));
            }
        }
        Ok(())
    }

    /// Returns the files as the wanted content of a folder.
    pub(crate) fn wanted(&self) -> WantedFolder<'_> {
        let mut wanted = WantedFolder::default();
        for path in &self.folders {
            wanted.add(path.into(), WantedEntry::Folder);
        }
        for (path, (mode, content)) in &self.files {
            wanted.add(path.into(), WantedEntry::Content(content, Some(*mode)));
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> CachedTarget {
        CachedTarget {
            facts: [(Fact::NodeNames, "0".to_owned())].into(),
            messages: vec!["TRACE: a\nb".to_owned()],
            files: OutputFiles {
                folders: ["d".to_owned(), "empty".to_owned()].into(),
                files: [
                    ("d/a.yaml".to_owned(), (0o644, Bytes::from_static(b"a: 1\n"))),
                    ("run".to_owned(), (0o755, Bytes::from_static(b""))),
                ]
                .into(),
            },
        }
    }

    #[test]
    fn an_entry_that_is_not_whole_is_no_result() {
        let targets = BTreeMap::from([("one".to_owned(), target()), ("two".to_owned(), target())]);
        let bytes = Bytes::from(serialize("key", targets.clone()));
        assert_eq!(parse("key", &bytes), Some(targets));
        assert_eq!(parse("other", &bytes), None);
        for length in 0..bytes.len() {
            assert_eq!(parse("key", &bytes.slice(..length)), None, "{length}");
        }
        assert_eq!(parse("key", &Bytes::from([&*bytes, b"x"].concat())), None);
        let outside = String::from_utf8(bytes.to_vec()).unwrap().replace("d/a.yaml", "../a.yam");
        assert_eq!(parse("key", &Bytes::from(outside)), None);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_written_as_they_were_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = target().files;
        let to = folder.path().join("a");
        files.wanted().update(&to, folder.path(), crate::folder_update::UnlistedPolicy::Delete).unwrap();
        assert_eq!(OutputFiles::read(&to).unwrap(), files);
    }
}
