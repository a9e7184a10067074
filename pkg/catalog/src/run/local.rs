//! Uses the repositories and dependencies that are already in the working folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use manifest::{Value, YamlLimits, yaml};

use super::{CompileRun, Workspace};
use crate::dependencies::{
    Dependency, DependencySpec, discover_components, discover_packages, link_instance, link_libraries,
    link_package, read_components, read_packages,
};
use crate::error::CatalogError;
use crate::file_reading::{MAX_FILE_BYTES, read_text};
use crate::reclass::MissingClasses;
use crate::repository::CatalogCheckout;
use crate::step::Step;
use crate::working_folder::{CLUSTER_TARGET, empty_folder, write_file};

/// The cluster that the working folder was last used for.
struct LocalCluster {
    id: String,
    tenant: String,
    catalog_url: String,
}

impl CompileRun<'_> {
    /// Uses the content of the working folder, without the API and without Git remotes.
    ///
    /// # Errors
    /// The working folder is not complete, or belongs to another cluster.
    pub async fn set_up_local(&self, cluster: &str) -> Result<Workspace, CatalogError> {
        self.report(Step::LocalMode);
        self.report(Step::Notice("Will use existing inventory, components, and catalog".to_owned()));
        if !self.options.fetch_dependencies {
            self.report(Step::Notice("Will use existing Jsonnet and Kapitan dependencies".to_owned()));
            self.report(Step::Text(
                "   > Use --fetch-dependencies at least once if you're trying to enable a new component in local \
                 mode, otherwise Kapitan will fail to find the component"
                    .to_owned(),
            ));
        }
        let file = self.folder.target_file(CLUSTER_TARGET);
        if !file.is_file() && self.options.cluster_file.is_none() {
            return Err(CatalogError::rule_with_hint(
                format!("Invalid working dir state: '{}' is missing", file.display()),
                "compile the catalog once without `--local`, or name the parameters of the cluster with `--cluster-file`",
            ));
        }
        self.report(Step::Notice(
            "Assert current working dir state matches requested compilation".to_owned(),
        ));
        let local = self.local_cluster(cluster)?;
        self.report(Step::RegisterConfig);
        self.check_removed_references(&local.tenant)?;
        self.reset_inventory()?;
        self.report(Step::CreateBootstrapTarget);
        self.write_target(&BTreeMap::new(), None)?;
        let packages = self.register_packages()?;
        let workspace = self.register_components()?;
        for instance in workspace.instances.values() {
            self.write_target(&workspace.components, Some(instance))?;
        }
        self.write_target(&workspace.components, None)?;
        self.report(Step::ConfigureCatalog);
        let catalog = CatalogCheckout::local(
            self.fetcher(),
            &local.catalog_url,
            self.options.author.clone(),
            self.report,
        )
        .await?;
        Ok(Workspace { packages, catalog, ..workspace })
    }

    /// Reads the parameters of the cluster. Those of a given file take the place of those of the last run.
    fn local_cluster(&self, cluster: &str) -> Result<LocalCluster, CatalogError> {
        let kept = self.folder.parameters_file();
        let file = self.options.cluster_file.as_deref().unwrap_or(&kept);
        let (local, text) = read_cluster(file)?;
        if local.id != cluster {
            return Err(CatalogError::rule_with_hint(
                format!(
                    "[Local mode] Cluster ID mismatch: local state targets {}, compilation was requested for {cluster}",
                    local.id
                ),
                "name the parameters of another cluster with `--cluster-file`",
            ));
        }
        if file != kept {
            write_file(&kept, &text)?;
        }
        Ok(local)
    }

    fn reset_inventory(&self) -> Result<(), CatalogError> {
        self.report(Step::ResetTargets);
        empty_folder(&self.folder.targets())?;
        self.report(Step::ResetLinks);
        empty_folder(&self.folder.default_classes())?;
        empty_folder(&self.folder.component_classes())?;
        self.folder.create_folders()
    }

    fn register_packages(&self) -> Result<Vec<Dependency>, CatalogError> {
        self.report(Step::DiscoverPackages);
        let node = self.render_cluster(MissingClasses::Ignored)?;
        let names = discover_packages(&node.applications)?;
        let mut packages = Vec::new();
        for (name, spec) in read_packages(&node, &names)? {
            let worktree = self.folder.package(&name);
            if worktree.is_dir() {
                let package = dependency(&name, &name, spec, &worktree);
                link_package(self.folder, &package)?;
                packages.push(package);
            } else {
                self.report(Step::Warning(format!(
                    "Skipping registration of package '{name}': repo is not available"
                )));
            }
        }
        Ok(packages)
    }

    pub(crate) fn register_components(&self) -> Result<Workspace, CatalogError> {
        self.report(Step::DiscoverIncludedComponents);
        let node = self.render_cluster(MissingClasses::Rejected)?;
        let applications = discover_components(&node.applications)?;
        let mut specs = read_components(&node, &applications)?;
        self.report(Step::RegisterComponents);
        let mut components = BTreeMap::new();
        for (name, spec) in specs.components {
            let worktree = self.folder.component(&name);
            if !worktree.is_dir() {
                self.report(Step::Warning(format!(
                    "Skipping registration of component {name}: repo is not available"
                )));
                continue;
            }
            let component = dependency(&name, &name, spec, &worktree);
            link_instance(self.folder, &component)?;
            link_libraries(self.folder, &component, &applications.components)?;
            components.insert(name, component);
        }
        let (known, dropped): (Vec<_>, Vec<_>) =
            applications.instances.iter().partition(|(_, component)| components.contains_key(*component));
        if !dropped.is_empty() {
            let names: Vec<String> = dropped.iter().map(|(alias, _)| format!("'{alias}'")).collect();
            self.report(Step::Warning(format!(
                "Dropping alias(es) [{}] with missing component(s).",
                names.join(", ")
            )));
        }
        let mut instances = BTreeMap::new();
        for (alias, component) in known {
            let instance = match specs.instances.remove(alias) {
                None => components[component].clone(),
                Some(spec) => {
                    let worktree = self.instance_worktree(alias, &components[component], &spec)?;
                    let instance = dependency(alias, component, spec, &worktree);
                    link_instance(self.folder, &instance)?;
                    instance
                }
            };
            instances.insert(alias.clone(), instance);
        }
        Ok(Workspace { components, instances, ..Workspace::default() })
    }

    /// Finds the checkout of an instance, or else that of its component, if both have the same version.
    fn instance_worktree(
        &self,
        alias: &str,
        component: &Dependency,
        spec: &DependencySpec,
    ) -> Result<PathBuf, CatalogError> {
        let worktree = self.folder.component(alias);
        if worktree.is_dir() {
            return Ok(worktree);
        }
        let known = (&component.url, &component.version, &component.path);
        if known == (&spec.url, &spec.version, &spec.path) {
            return Ok(component.worktree.clone());
        }
        Err(CatalogError::rule_with_hint(
            format!("Missing alias checkout for '{alias} as {}'", component.name),
            "compile the catalog once without `--local`",
        ))
    }
}

fn dependency(name: &str, component: &str, spec: DependencySpec, worktree: &Path) -> Dependency {
    let DependencySpec { url, version, path } = spec;
    let (name, component) = (name.to_owned(), component.to_owned());
    Dependency { name, component, url, version, path, worktree: worktree.to_owned(), commit: None }
}

/// Reads the parameters of a cluster. Also returns the text of the file.
fn read_cluster(path: &Path) -> Result<(LocalCluster, String), CatalogError> {
    let invalid = || {
        CatalogError::rule_with_hint(
            format!("params file for {CLUSTER_TARGET} does not exist or is not valid: '{}'", path.display()),
            "the file needs `parameters.cluster` with `name` and `tenant`, such as `inventory/classes/params/cluster.yml`",
        )
    };
    let text = read_text(path, MAX_FILE_BYTES).map_err(|_| invalid())?;
    let content = yaml::read_settings(&text, &YamlLimits::default()).map_err(|_| invalid())?;
    let cluster = content.get("parameters").and_then(|parameters| parameters.get(CLUSTER_TARGET));
    let field = |field: &str| {
        let value = cluster.and_then(|cluster| cluster.get(field)).and_then(Value::as_str);
        value.map(str::to_owned).ok_or_else(invalid)
    };
    let cluster = LocalCluster {
        id: field("name")?,
        tenant: field("tenant")?,
        catalog_url: field("catalog_url").unwrap_or_default(),
    };
    Ok((cluster, text))
}
