//! The compilation of a package without a cluster.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use manifest::yaml;
use serde_json::json;

use crate::CLUSTER_TARGET;
use crate::compile::{CompileRequest, Tools, compile, fetch_dependencies};
use crate::component::{ARGOCD_LIBRARY, ComponentError};
use crate::dependencies::{Dependency, discover_packages, link};
use crate::error::CatalogError;
use crate::folder_update::{UnlistedPolicy, WantedFolder};
use crate::references::{References, collect};
use crate::run::{CompileRun, Prepared, components_of_instances};
use crate::step::Step;
use crate::working_folder::write_file;

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

/// The components of a package.
#[derive(Debug)]
pub struct PackageWorkspace {
    components: BTreeMap<String, Dependency>,
    instances: BTreeMap<String, Dependency>,
}

impl CompileRun<'_> {
    /// Writes the hierarchy of an invented cluster that includes a package, and fetches its components.
    ///
    /// # Errors
    /// The class does not exist, or a component cannot be fetched.
    pub async fn set_up_package(
        &self,
        request: &PackageRequest<'_>,
    ) -> Result<PackageWorkspace, CatalogError> {
        if !request.local {
            self.report(Step::CleanWorkingTree);
            self.folder.clean_inventory()?;
        }
        self.folder.create_folders()?;
        self.write_hierarchy(request)?;
        self.write_target(&BTreeMap::new(), None)?;
        let (components, instances) =
            if request.local { self.register_components()? } else { self.fetch_components().await? };
        self.write_target(&components, None)?;
        for instance in instances.values() {
            self.write_target(&components, Some(instance))?;
        }
        Ok(PackageWorkspace { components, instances })
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

    /// Renders the targets of a package, and installs what their programs import.
    ///
    /// # Errors
    /// Parameters cannot be rendered, a rule is broken, or a library cannot be installed.
    pub async fn prepare_package(&self, workspace: &PackageWorkspace) -> Result<Prepared, CatalogError> {
        self.prepare_instances(&workspace.components, &workspace.instances).await
    }

    /// Fetches charts and files that the targets of a package need.
    ///
    /// # Errors
    /// Something cannot be fetched.
    pub async fn fetch_package(
        &self,
        workspace: &PackageWorkspace,
        prepared: &Prepared,
    ) -> Result<(), ComponentError> {
        if self.options.fetch_dependencies {
            let targets: Vec<String> = workspace.instances.keys().cloned().collect();
            fetch_dependencies(&prepared.nodes, &targets, self.folder.root(), self.context).await?;
        }
        Ok(())
    }

    /// Compiles the instances of a package, runs their filters, and copies the files into `compiled` of the package.
    /// Returns the messages of the targets.
    ///
    /// # Errors
    /// An input or a filter fails, or a file cannot be written. The package is not changed then.
    pub fn compile_package(
        &self,
        request: &PackageRequest<'_>,
        workspace: &PackageWorkspace,
        prepared: &Prepared,
        tools: &dyn Tools,
    ) -> Result<Vec<String>, ComponentError> {
        let folder = self.folder;
        self.report(Step::UpdateReferences);
        let parameters = prepared.nodes.iter().map(|(name, node)| (name.clone(), &node.parameters)).collect();
        let components = components_of_instances(&workspace.instances);
        let references = collect(&parameters, &components, CLUSTER_TARGET)?;
        self.write_references(&references)?;
        self.report(Step::Compile);
        let targets: Vec<String> = workspace.instances.keys().cloned().collect();
        let compiled = compile(&CompileRequest {
            nodes: &prepared.nodes,
            key_orders: &prepared.key_orders,
            targets: &targets,
            search_paths: &[folder.vendor(), folder.root().to_owned()],
            output: folder.root(),
            references: References::Hashed { folder: folder.references() },
            control: &self.options.control,
            threads: 1,
            tools,
            results: None,
        })?;
        self.postprocess_instances(&workspace.instances, prepared)?;
        if folder.compiled().is_dir() {
            let mut wanted = WantedFolder::default();
            wanted.add_copy(&folder.compiled()).map_err(CatalogError::from)?;
            let to = request.package.join("compiled");
            wanted.update(&to, request.package, UnlistedPolicy::Keep).map_err(CatalogError::from)?;
        }
        let messages = compiled.messages.into_iter();
        Ok(messages
            .flat_map(|(target, all)| all.into_iter().map(move |text| format!("{target}: {text}")))
            .collect())
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
