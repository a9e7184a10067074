use std::{fmt, path::PathBuf};

use bytes::Bytes;

/// A file and where it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Its content; cheap to clone.
    pub bytes: Bytes,
    /// Where it was found.
    pub origin: Origin,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({} bytes from {})", self.bytes.len(), self.origin)
    }
}

/// Where a file was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the overrides folder.
    Override(PathBuf),
    /// In a local repository.
    Local(PathBuf),
    /// At this address, without credentials.
    Url(String),
    /// In the memory of this process.
    Memory(String),
}

impl Origin {
    /// Whether an override won over the repository.
    pub fn is_override(&self) -> bool {
        matches!(self, Origin::Override(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Override(path) | Origin::Local(path) => path.display().fmt(f),
            Origin::Url(text) | Origin::Memory(text) => f.write_str(text),
        }
    }
}
