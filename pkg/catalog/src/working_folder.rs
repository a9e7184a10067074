//! The working folder of a catalog: where inventory, dependencies and results are.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::CatalogError;

/// The target that describes the cluster as a whole.
pub(crate) const CLUSTER_TARGET: &str = "cluster";

/// The name of the file of that target, and of the parameters of the cluster.
pub(crate) const CLUSTER_FILE: &str = "cluster.yml";

/// The paths in a working folder.
#[derive(Clone, Debug)]
pub struct WorkingFolder {
    root: PathBuf,
}

impl WorkingFolder {
    /// Takes an absolute path.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The class hierarchy.
    pub fn inventory(&self) -> PathBuf {
        self.root.join("inventory")
    }

    /// The classes of the hierarchy.
    pub fn classes(&self) -> PathBuf {
        self.inventory().join("classes")
    }

    /// The targets of the hierarchy.
    pub fn targets(&self) -> PathBuf {
        self.inventory().join("targets")
    }

    /// The file of a target.
    pub(crate) fn target_file(&self, target: &str) -> PathBuf {
        self.targets().join(format!("{target}.yml"))
    }

    /// The folder of the parameters that describe the cluster.
    pub(crate) fn parameters(&self) -> PathBuf {
        self.classes().join("params")
    }

    /// The parameters that describe the cluster.
    pub fn parameters_file(&self) -> PathBuf {
        self.parameters().join(CLUSTER_FILE)
    }

    /// The classes of all clusters.
    pub(crate) fn global_config(&self) -> PathBuf {
        self.classes().join("global")
    }

    /// The classes of a tenant.
    pub(crate) fn tenant_config(&self, tenant: &str) -> PathBuf {
        self.classes().join(tenant)
    }

    /// The links to the classes of component instances.
    pub fn component_classes(&self) -> PathBuf {
        self.classes().join("components")
    }

    /// The links to the defaults of component instances.
    pub fn default_classes(&self) -> PathBuf {
        self.classes().join("defaults")
    }

    /// The fetched dependencies.
    pub fn dependencies(&self) -> PathBuf {
        self.root.join("dependencies")
    }

    /// The bare clones of all dependencies.
    pub(crate) fn clones(&self) -> PathBuf {
        self.dependencies().join(".repos")
    }

    /// The worktree of a component or of a component instance.
    pub fn component(&self, name: &str) -> PathBuf {
        self.dependencies().join(name)
    }

    /// The worktree of a package.
    pub fn package(&self, name: &str) -> PathBuf {
        self.dependencies().join(format!("pkg.{name}"))
    }

    /// The links to template libraries of components.
    pub fn libraries(&self) -> PathBuf {
        self.dependencies().join("lib")
    }

    /// The installed Jsonnet libraries.
    pub fn vendor(&self) -> PathBuf {
        self.root.join("vendor")
    }

    /// The compiled files, one folder for each instance.
    pub fn compiled(&self) -> PathBuf {
        self.root.join("compiled")
    }

    /// The worktree of the catalog.
    pub fn catalog(&self) -> PathBuf {
        self.root.join("catalog")
    }

    /// The manifests in the catalog.
    pub fn manifests(&self) -> PathBuf {
        self.catalog().join("manifests")
    }

    /// The references to secrets in the catalog.
    pub fn references(&self) -> PathBuf {
        self.catalog().join("refs")
    }

    /// Deletes everything that a compilation creates, except for fetched dependencies.
    ///
    /// # Errors
    /// A folder cannot be deleted.
    pub fn clean(&self) -> Result<(), CatalogError> {
        self.clean_inventory()?;
        remove_folder(&self.compiled())?;
        remove_folder(&self.catalog())
    }

    /// Deletes the hierarchy and the links to libraries. The compiled files and the catalog stay as they are.
    pub(crate) fn clean_inventory(&self) -> Result<(), CatalogError> {
        let libs = self.dependencies().join("libs");
        [self.inventory(), self.libraries(), libs].iter().try_for_each(|folder| remove_folder(folder))
    }

    pub(crate) fn create_folders(&self) -> Result<(), CatalogError> {
        for folder in [
            self.component_classes(),
            self.default_classes(),
            self.parameters(),
            self.libraries(),
            self.targets(),
            self.clones(),
        ] {
            create_folder(&folder)?;
        }
        Ok(())
    }
}

/// Deletes a folder with its content. A missing folder is no error.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), CatalogError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CatalogError::disk("delete", folder, error))
        }
        _ => Ok(()),
    }
}

/// Returns the names in a folder. A missing folder has none.
pub(crate) fn folder_names(folder: &Path) -> Result<Vec<OsString>, CatalogError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries,
    };
    let names = entries.and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    names.map_err(|error| CatalogError::disk("read", folder, error))
}

/// Deletes the content of a folder, except for hidden entries and one name. A missing folder is no error.
pub(crate) fn empty_folder(folder: &Path, kept: Option<&str>) -> Result<(), CatalogError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| CatalogError::disk("read", folder, error))?,
    };
    for entry in entries {
        let entry = entry.map_err(|error| CatalogError::disk("read", folder, error))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') || kept == Some(&*name) {
            continue;
        }
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let deleted = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        deleted.map_err(|error| CatalogError::disk("delete", &path, error))?;
    }
    Ok(())
}

pub(crate) fn create_folder(folder: &Path) -> Result<(), CatalogError> {
    fs::create_dir_all(folder).map_err(|error| CatalogError::disk("create", folder, error))
}

/// Writes a file of the hierarchy or of a dependency, with the folders around it.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), CatalogError> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    fs::write(path, text).map_err(|error| CatalogError::disk("write", path, error))
}
