use std::{fmt, path::PathBuf};

use bytes::Bytes;

/// The content of a file and its origin.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// The content; cheap to clone.
    pub bytes: Bytes,
    /// The source of the content.
    pub source: FileSource,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({} bytes from {})", self.bytes.len(), self.source)
    }
}

/// The source of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// A file in the overrides folder.
    Override(PathBuf),
    /// A file in a local repository.
    Local(PathBuf),
    /// A url, without credentials.
    Url(String),
    /// A file in the memory of this process.
    Memory(String),
}

impl FileSource {
    /// True if the file comes from the overrides folder.
    pub fn is_override(&self) -> bool {
        matches!(self, FileSource::Override(_))
    }
}

impl fmt::Display for FileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileSource::Override(path) | FileSource::Local(path) => path.display().fmt(f),
            FileSource::Url(text) | FileSource::Memory(text) => f.write_str(text),
        }
    }
}
