use std::{fmt, path::PathBuf};

use bytes::Bytes;

/// The content of a file and its origin.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// The content; cheap to clone.
    pub bytes: Bytes,
    /// The source of the content.
    pub origin: Origin,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({} bytes from {})", self.bytes.len(), self.origin)
    }
}

/// The source of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file in the overrides folder.
    Override(PathBuf),
    /// A file in a local repository.
    Local(PathBuf),
    /// A url, without credentials.
    Url(String),
    /// A file in the memory of this process.
    Memory(String),
}

impl Origin {
    /// True if the file comes from the overrides folder.
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
