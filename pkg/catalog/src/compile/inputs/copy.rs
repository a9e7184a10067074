//! Files that are copied as they are.

use std::fs;
use std::path::Path;

use crate::compile::error::InputError;
use crate::compile::output_tree::OutputTree;
use crate::file_reading::{FolderWalk, LinkPolicy, MAX_FILE_BYTES, read_file};

/// Copies a file, or the content of a folder, to the output folder.
pub(in crate::compile) fn compile(path: &Path, output: &OutputTree) -> Result<(), InputError> {
    if path.is_dir() {
        return copy_folder(path, output);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    copy_file(path, &name, output)
}

pub(super) fn copy_folder(folder: &Path, output: &OutputTree) -> Result<(), InputError> {
    output.create()?;
    for entry in FolderWalk::new(folder, LinkPolicy::Follow, &|_| true)? {
        let entry = entry?;
        if entry.is_folder {
            output.folder(&entry.name())?.create()?;
        } else {
            copy_file(&entry.path, &entry.name(), output)?;
        }
    }
    Ok(())
}

fn copy_file(path: &Path, name: &str, output: &OutputTree) -> Result<(), InputError> {
    let content = read_file(path, MAX_FILE_BYTES).map_err(InputError::read(path))?;
    let written = output.write(name, &content)?;
    copy_mode(path, &written)
}

/// Gives a file the permissions of another one.
pub(super) fn copy_mode(from: &Path, to: &Path) -> Result<(), InputError> {
    let permissions = fs::metadata(from).map_err(InputError::read(from))?.permissions();
    fs::set_permissions(to, permissions).map_err(InputError::write(to))
}
