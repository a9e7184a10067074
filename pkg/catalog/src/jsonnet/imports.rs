//! The files that a program imports.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::limits::{LIMITS, LIMITS_TEXT};
use crate::results::Reads;
use crate::{file_reading, libraries};

/// The maximum size of an imported file.
const MAX_BYTES: u64 = 64 << 20;

/// The identity of a source, which is the value of `std.thisFile`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SourcePath {
    File(PathBuf),
    Embedded(&'static str),
}

impl SourcePath {
    pub(super) fn display(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Embedded(name) => (*name).to_owned(),
        }
    }

    /// Returns the file for messages. Many files are reached through links in folders that are deleted afterwards.
    pub(super) fn location(&self) -> String {
        match self {
            Self::File(path) => path.canonicalize().as_deref().unwrap_or(path).display().to_string(),
            Self::Embedded(_) => self.display(),
        }
    }
}

/// An import that cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImportError {
    #[error(
        "no file `{name}` in the folder of the importing file, the libraries or the search paths{}",
        list(folders)
    )]
    NotFound { name: String, folders: Vec<PathBuf> },
    #[error("cannot read `{}`: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("`{name}` is not valid UTF-8")]
    NotText { name: String },
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| format!(" `{}`", folder.display())).collect::<Vec<_>>().join(",")
}

/// Finds an imported file: beside the importing file, in the embedded libraries, or in a search path.
pub(super) fn resolve(
    from: Option<&SourcePath>,
    name: &str,
    search_paths: &[PathBuf],
    reads: &Reads,
) -> Result<SourcePath, ImportError> {
    if let Some(SourcePath::File(file)) = from {
        let beside = normal(&file.parent().unwrap_or(Path::new("")).join(name));
        if reads.is_file(&beside) {
            return Ok(SourcePath::File(beside));
        }
    }
    // Other libraries may be replaced by a file in a search path; this one is part of the evaluator.
    if let Some(name) = libraries::embedded_name(name).filter(|name| *name == libraries::KAPITAN) {
        return Ok(SourcePath::Embedded(name));
    }
    let in_search_path = search_paths.iter().map(|folder| normal(&folder.join(name)));
    in_search_path
        .filter(|path| reads.is_file(path))
        .map(SourcePath::File)
        .next()
        .or_else(|| libraries::embedded_name(name).map(SourcePath::Embedded))
        .ok_or_else(|| ImportError::NotFound { name: name.to_owned(), folders: search_paths.to_vec() })
}

/// Reads a source.
pub(super) fn read(source: &SourcePath, reads: &Reads) -> Result<Vec<u8>, ImportError> {
    match source {
        source if *source == LIMITS => Ok(LIMITS_TEXT.as_bytes().to_vec()),
        SourcePath::Embedded(name) => Ok(libraries::embedded(name).unwrap_or_default().as_bytes().to_vec()),
        SourcePath::File(path) => read_file(path, reads),
    }
}

/// Reads a source that must be text.
pub(super) fn read_text(source: &SourcePath, reads: &Reads) -> Result<String, ImportError> {
    String::from_utf8(read(source, reads)?).map_err(|_| ImportError::NotText { name: source.display() })
}

fn read_file(path: &Path, reads: &Reads) -> Result<Vec<u8>, ImportError> {
    let bytes = file_reading::read_file(path, MAX_BYTES)
        .map_err(|error| ImportError::Read { path: path.to_owned(), error })?;
    reads.note_content(path, &bytes);
    Ok(bytes)
}

/// Removes `.` and `..` from a path, without a look at the disk.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
