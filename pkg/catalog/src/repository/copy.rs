//! Copies compiled files into the catalog.

use std::fs;
use std::path::Path;

use crate::error::CatalogError;
use crate::working_folder::create_folder;

/// Copies a folder into another one. Existing files are replaced; a missing source is no error.
pub(crate) fn copy_folder(source: &Path, target: &Path) -> Result<(), CatalogError> {
    if !source.is_dir() {
        return Ok(());
    }
    create_folder(target)?;
    let unreadable = |error| CatalogError::disk("read", source, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(source).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name());
    }
    names.sort();
    for name in names {
        let (from, to) = (source.join(&name), target.join(&name));
        if from.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            fs::copy(&from, &to).map_err(|error| CatalogError::disk("copy", &from, error))?;
        }
    }
    Ok(())
}
