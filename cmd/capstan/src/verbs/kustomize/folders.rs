//! Kustomizations in a tree of folders.

use std::{
    fs,
    path::{Path, PathBuf},
};

use manifest::yaml::{self, Limits};

use crate::{Failure, Within as _, session::Session};

/// Returns the folders with a kustomization in a folder and below, as they are named from there and sorted. Components are
/// left out, as they can only be built as part of another; so are hidden folders.
/// # Errors
/// A folder cannot be read, or there is no kustomization.
pub(super) fn kustomizations_below(place: &str, session: &Session) -> Result<Vec<String>, Failure> {
    let top = session.environment().resolve(place);
    let (mut found, mut open) = (Vec::new(), vec![(top, PathBuf::from(place))]);
    while let Some((path, name)) = open.pop() {
        if is_buildable(&path) {
            found.push(name.display().to_string());
        }
        let cannot = || format!("cannot read the folder `{}`", name.display());
        for entry in fs::read_dir(&path).within(cannot)? {
            let entry = entry.within(cannot)?;
            let is_folder = entry.file_type().within(cannot)?.is_dir();
            if is_folder && !entry.file_name().to_string_lossy().starts_with('.') {
                open.push((entry.path(), name.join(entry.file_name())));
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::user(format!("there is no kustomization in `{place}` or below")));
    }
    found.sort();
    Ok(found)
}

fn is_buildable(folder: &Path) -> bool {
    let Some(path) = kustomize::FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    else {
        return false;
    };
    // A file that cannot be read is told of by its build.
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = yaml::read_settings(&text, &Limits::default()).unwrap_or_default();
    value.get("kind").is_none_or(|kind| kind != "Component")
}
