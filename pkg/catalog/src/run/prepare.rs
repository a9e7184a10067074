//! Renders the parameters of all targets, checks the rules that need them, and installs Jsonnet libraries.

use super::{CompileRun, Prepared, Workspace, key_orders, render_all};
use crate::dependencies::{
    BundlerRequest, check_component_versions, check_instances, check_version_overrides, component_parameters,
    deprecation_notices, install_aliases, install_libraries, render_jsonnetfile,
};
use crate::error::CatalogError;
use crate::lint::check_removed_references;
use crate::reclass::Inventory;
use crate::step::Step;
use crate::working_folder::CLUSTER_TARGET;

impl CompileRun<'_> {
    /// Renders the targets of a workspace, and installs what their programs import.
    ///
    /// # Errors
    /// Parameters cannot be rendered, a rule is broken, or a library cannot be installed.
    pub async fn prepare(&self, workspace: &Workspace) -> Result<Prepared, CatalogError> {
        let components = &workspace.components;
        let files = components.values().flat_map(|component| {
            let classes = component.folder().join("class");
            [classes.join("defaults.yml"), classes.join(format!("{}.yml", component.name))]
        });
        check_removed_references("enabled components", &files.collect::<Vec<_>>(), self.report)?;
        let inventory = Inventory::read(&self.folder.inventory())?.with_paths_from(self.folder.root());
        let targets: Vec<String> =
            std::iter::once(CLUSTER_TARGET.to_owned()).chain(workspace.instances.keys().cloned()).collect();
        let nodes = render_all(&inventory, &targets)?;
        let parameters = &nodes[CLUSTER_TARGET].parameters;
        let instances = workspace.components_of_instances();
        check_component_versions(parameters)?;
        self.report(Step::InstallLibraryAliases);
        install_aliases(self.folder, components, parameters, self.report)?;
        check_instances(&nodes, parameters, &instances)?;
        let notices = deprecation_notices(parameters, &instances)?;
        check_version_overrides(parameters, &instances)?;
        for component in components.values() {
            let own = component_parameters(parameters, &component.name)?;
            render_jsonnetfile(component, own, &self.options.control)?;
        }
        if self.options.fetch_dependencies {
            let folders = components.values().map(|component| component.worktree.clone());
            install_libraries(BundlerRequest {
                context: self.context,
                folder: self.folder.root(),
                local: folders.chain([self.folder.libraries()]).collect(),
            })
            .await?;
        }
        Ok(Prepared { nodes, key_orders: key_orders(inventory, targets), notices })
    }
}
