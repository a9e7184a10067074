//! Links from the hierarchy to dependencies. All are relative, so that the working folder can be moved.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::Dependency;
use crate::error::CatalogError;
use crate::working_folder::{WorkingFolder, create_folder};

/// Links the class and the defaults of an instance.
///
/// # Errors
/// The component has no such file.
pub(crate) fn link_instance(folder: &WorkingFolder, instance: &Dependency) -> Result<(), CatalogError> {
    let classes = instance.folder().join("class");
    let file = format!("{}.yml", instance.name);
    link(&classes.join(format!("{}.yml", instance.component)), &folder.component_classes(), &file)?;
    link(&classes.join("defaults.yml"), &folder.default_classes(), &file)
}

/// Links the folder of a package.
///
/// # Errors
/// The path of the package is no folder.
pub(crate) fn link_package(folder: &WorkingFolder, package: &Dependency) -> Result<(), CatalogError> {
    if !package.folder().is_dir() {
        return Err(CatalogError::rule_with_hint(
            format!("Can't symlink package subpath {}, not a directory", package.path),
            format!("correct `parameters.packages.{}.path`", package.name),
        ));
    }
    link(&package.folder(), &folder.classes(), &package.name)
}

/// Creates a link to a file or folder. An existing link is replaced.
///
/// # Errors
/// The file does not exist.
pub(crate) fn link(source: &Path, folder: &Path, name: &str) -> Result<(), CatalogError> {
    let (target, path) = (relative_path(source, folder), folder.join(name));
    if !source.exists() {
        return Err(CatalogError::rule(format!(
            "Can't link {} to {}. Source does not exist.",
            target.display(),
            path.display()
        )));
    }
    create_folder(folder)?;
    if path.symlink_metadata().is_ok() {
        fs::remove_file(&path).map_err(|error| CatalogError::disk("replace", &path, error))?;
    }
    create_link(&target, &path).map_err(|error| CatalogError::disk("link", &path, error))
}

#[cfg(unix)]
fn create_link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(windows)]
fn create_link(target: &Path, path: &Path) -> std::io::Result<()> {
    let is_folder = path.parent().unwrap_or(path).join(target).is_dir();
    if is_folder {
        std::os::windows::fs::symlink_dir(target, path)
    } else {
        std::os::windows::fs::symlink_file(target, path)
    }
}

/// Returns the path from a folder to a file. Both are absolute, or both are relative.
pub(crate) fn relative_path(path: &Path, from: &Path) -> PathBuf {
    let (path, from): (Vec<_>, Vec<_>) = (path.components().collect(), from.components().collect());
    let shared = path.iter().zip(&from).take_while(|(one, other)| one == other).count();
    let climbs = from[shared..].iter().map(|_| Component::ParentDir);
    climbs.chain(path[shared..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_climbs_to_the_shared_folder() {
        for (path, from, expected) in [
            (
                "/w/dependencies/one/class/defaults.yml",
                "/w/inventory/classes/defaults",
                "../../../dependencies/one/class/defaults.yml",
            ),
            ("/w/a", "/w", "a"),
            ("/w/a", "/w/a/b", ".."),
        ] {
            assert_eq!(relative_path(Path::new(path), Path::new(from)), Path::new(expected), "{path}");
        }
    }

    // Row: CAT-25
    #[cfg(unix)]
    #[test]
    fn links_are_relative_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (one, links) = (folder.path().join("one"), folder.path().join("links"));
        fs::write(&one, "1").unwrap();
        for _ in 0..2 {
            link(&one, &links, "x").unwrap();
        }
        assert_eq!(fs::read_link(links.join("x")).unwrap(), Path::new("../one"));
        let error = link(&folder.path().join("two"), &links, "y").unwrap_err().to_string();
        let place = links.join("y").display().to_string();
        assert_eq!(error, format!("Can't link ../two to {place}. Source does not exist."));
    }
}
