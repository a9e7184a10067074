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
use crate::folder_update::{UnlistedPolicy, WantedEntry, WantedFolder};
use crate::reclass::MissingClasses;
use crate::repository::CatalogCheckout;
use crate::step::Step;
use crate::working_folder::{CLUSTER_FILE, CLUSTER_TARGET, empty_folder};

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
            let mut wanted = WantedFolder::default();
            wanted.add(PathBuf::from(CLUSTER_FILE), WantedEntry::Content(text.as_bytes(), None));
            wanted.update(&self.folder.parameters(), self.folder.root(), UnlistedPolicy::Keep)?;
        }
        Ok(local)
    }

    fn reset_inventory(&self) -> Result<(), CatalogError> {
        self.report(Step::ResetTargets);
        // A run in local mode requires the target of the cluster, also after an interruption.
        empty_folder(&self.folder.targets(), Some(CLUSTER_FILE))?;
        self.report(Step::ResetLinks);
        empty_folder(&self.folder.default_classes(), None)?;
        empty_folder(&self.folder.component_classes(), None)?;
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use repository::RepositoryContext;

    use super::*;
    use crate::run::CompileOptions;
    use crate::working_folder::WorkingFolder;

    const CLUSTER: &str = "parameters: {cluster: {name: c-green, tenant: t-acme}}\n";

    /// Sets up local mode, and stops at the step with this number. Returns true if the set-up ended before.
    fn set_up(folder: &WorkingFolder, cluster_file: Option<&Path>, stop_at: usize) -> bool {
        let options =
            CompileOptions { cluster_file: cluster_file.map(Path::to_owned), ..CompileOptions::default() };
        let steps = Cell::new(0);
        let report = |_: Step| {
            if steps.replace(steps.get() + 1) == stop_at {
                resume_unwind(Box::new("stopped"));
            }
        };
        let context = RepositoryContext::default();
        let run = CompileRun { folder, context: &context, options: &options, report: &report };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| runtime.block_on(run.set_up_local("c-green"))));
        result.map(Result::unwrap).is_ok()
    }

    fn example(root: &Path) -> WorkingFolder {
        for (path, text) in [
            ("c-green.yml", CLUSTER),
            (
                "inventory/classes/global/commodore.yml",
                "applications: [web]\nparameters: {components: {web: {url: 'https://x/web.git', version: v1}}}\n",
            ),
            ("dependencies/web/class/defaults.yml", "parameters: {web: {}}\n"),
            ("dependencies/web/class/web.yml", "parameters: {}\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        WorkingFolder::new(root)
    }

    // Row: D-563
    #[test]
    fn a_stop_at_any_step_leaves_a_usable_working_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = example(root.path());
        let cluster_file = root.path().join("c-green.yml");
        assert!(set_up(&folder, Some(&cluster_file), usize::MAX));
        let complete = support::folder::files(&folder.targets());
        let mut stop_at = 0;
        while !set_up(&folder, None, stop_at) {
            assert!(set_up(&folder, None, usize::MAX));
            assert_eq!(support::folder::files(&folder.targets()), complete, "{stop_at}");
            stop_at += 1;
        }
        assert!(stop_at > 10, "{stop_at}");
    }
}
