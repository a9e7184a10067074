//! Fetches the repositories and dependencies of a cluster.

use std::collections::BTreeMap;

use manifest::Value;

use super::{CompileRun, Workspace};
use crate::cluster::{Cluster, TargetInstance, parameters_text, target_text};
use crate::dependencies::{
    Applications, ComponentSpecs, Dependency, FetchRequest, discover_components, discover_packages,
    fetch_all, link_instance, link_libraries, link_package, read_components, read_packages,
};
use crate::error::CatalogError;
use crate::lint::check_removed_references;
use crate::reclass::{Inventory, MissingClasses, Node};
use crate::repository::{CatalogCheckout, check_catalog, check_local_work, check_out_config};
use crate::step::Step;
use crate::working_folder::{CLUSTER_TARGET, write_file};

impl CompileRun<'_> {
    /// Fetches the repositories of a cluster, its packages and components, and its catalog. The compiled files and the
    /// worktree of the catalog stay as they are.
    ///
    /// # Errors
    /// Local changes would be lost, something cannot be fetched, or the hierarchy breaks a rule.
    pub async fn set_up(&self, cluster: &Cluster) -> Result<Workspace, CatalogError> {
        self.check_local_changes(cluster).await?;
        self.report(Step::CleanWorkingTree);
        self.folder.clean_inventory()?;
        self.folder.create_folders()?;
        self.write_target(&BTreeMap::new(), None)?;
        self.report(Step::UpdateParameters);
        write_file(&self.folder.parameters_file(), &parameters_text(cluster, &self.dynamic_facts(cluster)))?;
        self.report(Step::UpdateGlobalConfig);
        let options = self.options;
        let global = check_out_config(
            self.fetcher(),
            &cluster.global_url,
            options.global_revision.as_deref().or(cluster.global_revision.as_deref()),
            options.global_revision.is_some(),
            &self.folder.global_config(),
        )
        .await?;
        self.report(Step::UpdateTenantConfig);
        let tenant = check_out_config(
            self.fetcher(),
            &cluster.tenant_url,
            options.tenant_revision.as_deref().or(cluster.tenant_revision.as_deref()),
            options.tenant_revision.is_some(),
            &self.folder.tenant_config(&cluster.tenant),
        )
        .await?;
        self.check_removed_references(&cluster.tenant)?;
        let packages = self.fetch_packages().await?;
        let workspace = self.fetch_components().await?;
        self.write_target(&workspace.components, None)?;
        for instance in workspace.instances.values() {
            self.write_target(&workspace.components, Some(instance))?;
        }
        self.report(Step::UpdateCatalog);
        let catalog =
            CatalogCheckout::open(self.fetcher(), &cluster.catalog_url, options.author.clone(), self.report)
                .await?;
        let (global, tenant) = (Some(global), Some(tenant));
        Ok(Workspace { packages, catalog: Some(catalog), global, tenant, ..workspace })
    }

    async fn check_local_changes(&self, cluster: &Cluster) -> Result<(), CatalogError> {
        if self.options.force {
            self.report(Step::DiscardLocalChanges);
            return Ok(());
        }
        let (global, tenant) = (self.folder.global_config(), self.folder.tenant_config(&cluster.tenant));
        check_local_work(self.fetcher(), &cluster.global_url, &global, "Global").await?;
        check_local_work(self.fetcher(), &cluster.tenant_url, &tenant, "Tenant").await?;
        check_catalog(self.fetcher(), &cluster.catalog_url).await
    }

    fn dynamic_facts(&self, cluster: &Cluster) -> Value {
        let fallback = &self.options.dynamic_facts;
        if let Some(facts) = &cluster.dynamic_facts
            && !fallback.is_empty()
        {
            let is_empty = facts.as_object().is_none_or(manifest::Map::is_empty);
            let empty = if is_empty { "empty " } else { "" };
            self.report(Step::Notice(format!(
                "Cluster API response contains {empty}dynamic facts, ignoring  dynamic facts provided on the command line."
            )));
        }
        cluster.dynamic_facts.clone().unwrap_or_else(|| Value::Object(fallback.clone()))
    }

    pub(super) fn check_removed_references(&self, tenant: &str) -> Result<(), CatalogError> {
        let paths = [self.folder.global_config(), self.folder.tenant_config(tenant)];
        check_removed_references("hierarchy", &paths, self.report)
    }

    /// Renders the target of the cluster.
    pub(super) fn render_cluster(&self, missing: MissingClasses) -> Result<Node, CatalogError> {
        let inventory = Inventory::read(&self.folder.inventory())?.with_paths_from(self.folder.root());
        inventory
            .render_with(CLUSTER_TARGET, missing)
            .map_err(|source| CatalogError::Render { target: CLUSTER_TARGET.to_owned(), source })
    }

    async fn fetch_packages(&self) -> Result<Vec<Dependency>, CatalogError> {
        self.report(Step::DiscoverPackages);
        let node = self.render_cluster(MissingClasses::Ignored)?;
        let names = discover_packages(&node.applications)?;
        let specs = read_packages(&node, &names)?;
        let requests = specs.iter().map(|(name, spec)| FetchRequest {
            name,
            component: name,
            spec,
            worktree: self.folder.package(name),
            kind: "Package",
            context: format!("while fetching package {name}"),
        });
        let packages = fetch_all(self.fetcher(), requests.collect()).await?;
        for package in &packages {
            link_package(self.folder, package)?;
        }
        Ok(packages)
    }

    pub(crate) async fn fetch_components(&self) -> Result<Workspace, CatalogError> {
        self.report(Step::DiscoverComponents);
        let node = self.render_cluster(MissingClasses::Rejected)?;
        let applications = discover_components(&node.applications)?;
        self.report(Step::RegisterAliases);
        let specs = read_components(&node, &applications)?;
        self.report(Step::FetchComponents);
        let requests = specs.components.iter().map(|(name, spec)| FetchRequest {
            name,
            component: name,
            spec,
            worktree: self.folder.component(name),
            kind: "Component",
            context: format!("while fetching component {name}"),
        });
        let components = fetch_all(self.fetcher(), requests.collect()).await?;
        for component in &components {
            link_instance(self.folder, component)?;
            link_libraries(self.folder, component, &applications.components)?;
        }
        let components: BTreeMap<String, Dependency> =
            components.into_iter().map(|component| (component.name.clone(), component)).collect();
        let instances = self.fetch_instances(&applications, &specs, &components).await?;
        Ok(Workspace { components, instances, ..Workspace::default() })
    }

    async fn fetch_instances(
        &self,
        applications: &Applications,
        specs: &ComponentSpecs,
        components: &BTreeMap<String, Dependency>,
    ) -> Result<BTreeMap<String, Dependency>, CatalogError> {
        let requests = specs.instances.iter().map(|(name, spec)| FetchRequest {
            name,
            component: &applications.instances[name],
            spec,
            worktree: self.folder.component(name),
            kind: "Component alias",
            context: format!("while setting up component instance {name}"),
        });
        let fetched = fetch_all(self.fetcher(), requests.collect()).await?;
        for instance in &fetched {
            link_instance(self.folder, instance)?;
        }
        let own = applications.instances.iter().filter(|(alias, component)| alias == component);
        let own = own.filter_map(|(name, _)| components.get(name).cloned());
        Ok(fetched.into_iter().chain(own).map(|instance| (instance.name.clone(), instance)).collect())
    }

    /// Writes the target of the cluster or of an instance.
    pub(crate) fn write_target(
        &self,
        components: &BTreeMap<String, Dependency>,
        instance: Option<&Dependency>,
    ) -> Result<(), CatalogError> {
        let name = instance.map_or(CLUSTER_TARGET, |instance| instance.name.as_str());
        self.report(Step::UpdateTarget(name.to_owned()));
        let mut defaults = Vec::new();
        for component in components.keys() {
            // An alias has the defaults of its own checkout.
            let class = match instance {
                Some(instance) if instance.component == *component => &instance.name,
                _ => component,
            };
            if self.folder.default_classes().join(format!("{class}.yml")).is_file() {
                defaults.push(class.clone());
            } else {
                self.report(Step::Warning(format!("Default file for class {component} missing")));
            }
        }
        let folder = instance.map(Dependency::folder).unwrap_or_default();
        let target = instance.map(|instance| TargetInstance {
            name: &instance.name,
            component: &instance.component,
            folder: &folder,
        });
        write_file(&self.folder.target_file(name), &target_text(&defaults, target.as_ref()))
    }
}
