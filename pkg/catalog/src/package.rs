//! The compilation of a package without a cluster.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use manifest::yaml;
use serde_json::json;

use crate::component::ARGOCD_LIBRARY;
use crate::dependencies::{discover_packages, link};
use crate::error::CatalogError;
use crate::folder_update::{UnlistedPolicy, WantedFolder};
use crate::run::{CompileRun, Workspace};
use crate::step::Step;
use crate::working_folder::{CLUSTER_TARGET, write_file};

/// The tenant of an invented cluster, whose classes are the additional ones.
const TENANT: &str = "t-fake";

/// A package to compile. All paths are absolute.
#[derive(Clone, Copy, Debug)]
pub struct PackageRequest<'a> {
    /// The folder of the package, which gets the compiled files.
    pub package: &'a Path,
    /// The class to compile, as a path in the package: `tests/defaults.yml`.
    pub test_class: &'a Path,
    /// The files of additional classes.
    pub values: &'a [PathBuf],
    /// Uses the content of the working folder, without Git.
    pub local: bool,
}

impl CompileRun<'_> {
    /// Writes the hierarchy of an invented cluster that includes a package, and fetches its components.
    ///
    /// # Errors
    /// The class does not exist, or a component cannot be fetched.
    pub async fn set_up_package(&self, request: &PackageRequest<'_>) -> Result<Workspace, CatalogError> {
        if !request.local {
            self.report(Step::CleanWorkingTree);
            self.folder.clean_inventory()?;
        }
        self.folder.create_folders()?;
        self.write_hierarchy(request)?;
        self.write_target(&BTreeMap::new(), None)?;
        let workspace =
            if request.local { self.register_components()? } else { self.fetch_components().await? };
        self.write_target(&workspace.components, None)?;
        for instance in workspace.instances.values() {
            self.write_target(&workspace.components, Some(instance))?;
        }
        Ok(workspace)
    }

    fn write_hierarchy(&self, request: &PackageRequest<'_>) -> Result<(), CatalogError> {
        let name = package_name(request.package)?;
        let class = class_name(request.test_class);
        if !request.package.join(request.test_class).is_file() {
            return Err(CatalogError::rule_with_hint(
                format!("Test class '{class}' doesn't exist."),
                "name a file in the package, such as tests/defaults.yml",
            ));
        }
        let mut classes = Vec::new();
        for file in request.values {
            let stem = file.file_stem().and_then(|stem| stem.to_str());
            let Some((stem, file_name)) = stem.zip(file.file_name().and_then(|name| name.to_str())) else {
                return Err(CatalogError::rule(format!("`{}` is no name of a class", file.display())));
            };
            link(file, &self.folder.tenant_config(TENANT), file_name)?;
            classes.push(format!("{TENANT}.{stem}"));
        }
        // The facts of the additional classes are known when the classes of the package are merged.
        classes.push(format!("{name}.{class}"));
        let commodore = self.folder.global_config().join("commodore.yml");
        write_file(&commodore, &yaml::write(&json!({"classes": classes})))?;
        write_file(&self.folder.parameters_file(), &parameters_text())?;
        write_file(&self.folder.libraries().join("argocd.libjsonnet"), ARGOCD_LIBRARY)?;
        link(request.package, &self.folder.classes(), &name)
    }

    /// Copies the compiled files into `compiled` of the package.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn copy_package(&self, request: &PackageRequest<'_>) -> Result<(), CatalogError> {
        let compiled = self.folder.compiled();
        if compiled.is_dir() {
            let mut wanted = WantedFolder::default();
            wanted.add_copy(&compiled)?;
            wanted.update(&request.package.join("compiled"), request.package, UnlistedPolicy::Keep)?;
        }
        Ok(())
    }
}

/// Returns the name of a package from the name of its folder: `package-NAME`, `pkg.NAME` or `NAME`.
fn package_name(folder: &Path) -> Result<String, CatalogError> {
    let file_name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = match file_name.strip_prefix("pkg.") {
        Some(name) => name.to_owned(),
        None => file_name.split('.').next().unwrap_or_default().replace("package-", ""),
    };
    let packages = discover_packages(&[format!("pkg.{name}")])?;
    Ok(packages.into_iter().next().unwrap_or(name))
}

/// Returns the class of a file in a package: `tests.defaults` of `tests/defaults.yml`.
fn class_name(file: &Path) -> String {
    let parts = file.components().filter_map(|part| match part {
        Component::CurDir => None,
        part => Some(part.as_os_str().to_string_lossy()),
    });
    let class = parts.collect::<Vec<_>>().join(".");
    class.strip_suffix(".yml").unwrap_or(&class).to_owned()
}

/// Returns the class of an invented cluster. Packages know its values from their tests.
fn parameters_text() -> String {
    yaml::write(&json!({"parameters": {
        CLUSTER_TARGET: {
            "catalog_url": "ssh://git@git.example.com/org/repo.git",
            "name": "c-green-test-1234",
            "display_name": "Test Cluster 1234",
            "tenant": "t-silent-test-1234",
            "tenant_display_name": "Test Tenant 1234",
        },
        "facts": {"distribution": "x-fake-distribution", "cloud": "x-fake-cloud", "region": "x-fake-region"},
        "argocd": {"namespace": "syn"},
        "kapitan": {"secrets": {"vaultkv": {
            "VAULT_ADDR": "https://vault.syn.example.com",
            "VAULT_SKIP_VERIFY": "false",
            "VAULT_CAPATH": "/etc/ssl/certs/",
            "auth": "token",
            "engine": "kv-v2",
            "mount": "clusters/kv",
        }}},
    }}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_folder_and_the_file() {
        for (folder, expected) in [
            ("/w/package-monitoring", Some("monitoring")),
            ("/w/dependencies/pkg.mon", Some("mon")),
            ("/w/global", None),
        ] {
            assert_eq!(package_name(Path::new(folder)).ok().as_deref(), expected, "{folder}");
        }
        assert_eq!(class_name(Path::new("./tests/defaults.yml")), "tests.defaults");
    }
}
