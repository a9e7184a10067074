//! Files that are removed: compiled ones, and those that earlier inputs wrote into the folder of the component.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compile::context::TargetContext;
use crate::compile::error::InputError;

/// Removes a file or folder.
pub(in crate::compile) fn compile(context: &TargetContext<'_>, path: &Path) -> Result<(), InputError> {
    let component = context.base_folder();
    let compiled = context.search_paths.last().map(PathBuf::as_path);
    if !component.map(Path::new).into_iter().chain(compiled).any(|folder| is_in(path, folder)) {
        return Err(InputError::Outside { path: path.display().to_string() });
    }
    if !is_in(path, context.output.root()) {
        // A later run must remove the file again.
        context.reads.note_unknown();
    }
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(InputError::write(path))
}

/// True if the real path of a file is in a folder.
fn is_in(path: &Path, folder: &Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(path), Ok(folder)) => path != folder && path.starts_with(folder),
        _ => false,
    }
}
