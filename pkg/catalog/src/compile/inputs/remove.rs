//! Compiled files that are removed.

use std::fs;
use std::path::Path;

use crate::compile::context::TargetContext;
use crate::compile::error::InputError;

/// Removes a compiled file or folder.
pub(in crate::compile) fn compile(context: &TargetContext<'_>, path: &Path) -> Result<(), InputError> {
    let inside = context.search_paths.last().is_some_and(|compiled| is_in(path, compiled));
    if !inside {
        return Err(InputError::Outside { path: path.display().to_string() });
    }
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(InputError::write(path))
}

/// True if the real path of a file is in a folder.
fn is_in(path: &Path, folder: &Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(path), Ok(folder)) => path != folder && path.starts_with(folder),
        _ => false,
    }
}
