//! The stages of a compilation of one component.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use repository::RepositoryContext;
use serde_json::Value;

use super::error::ComponentError;
use super::target::{ARGOCD_LIBRARY, parameters_text, target_text};
use crate::cluster::TargetInstance;
use crate::compile::{CompileRequest, Tools, compile, fetch_dependencies};
use crate::dependencies::{
    BundlerRequest, Dependency, check_instances, component_parameters, install_aliases, install_libraries,
    link, link_libraries, render_jsonnetfile,
};
use crate::error::CatalogError;
use crate::jsonnet::EvaluationControl;
use crate::lint::check_removed_references;
use crate::postprocess::{PostprocessRequest, postprocess};
use crate::reclass::{Inventory, KeyOrders, Node};
use crate::references::References;
use crate::run::{key_orders, render_all};
use crate::step::{Step, StepSink};
use crate::working_folder::{WorkingFolder, write_file};

/// The start of the names of many folders, which is no part of the name of a component.
const PREFIX: &str = "component-";

/// A component to compile. All paths are absolute.
#[derive(Clone, Copy)]
pub struct ComponentRequest<'a> {
    /// The folder of the component.
    pub component: &'a Path,
    /// The name of the component; by default that of its folder.
    pub name: Option<&'a str>,
    /// The name of the instance; by default that of the component.
    pub alias: Option<&'a str>,
    /// The files of additional classes.
    pub values: &'a [PathBuf],
    /// Additional folders of input files and imports.
    pub search_paths: &'a [PathBuf],
    /// The folder that gets `compiled/INSTANCE`.
    pub output: &'a Path,
    /// An empty folder for the target.
    pub temporary: &'a WorkingFolder,
    /// The access to repositories.
    pub context: &'a RepositoryContext,
    /// The limits of programs.
    pub control: &'a EvaluationControl,
    /// The receiver of steps.
    pub report: StepSink<'a>,
}

/// A component with its parameters and everything that it needs.
pub struct PreparedComponent<'a> {
    request: ComponentRequest<'a>,
    name: String,
    instance: String,
    nodes: BTreeMap<String, Node>,
    key_orders: KeyOrders,
}

/// Renders the parameters of a component, and fetches its Jsonnet libraries and dependencies.
///
/// # Errors
/// The component lacks a file, its parameters cannot be rendered, or something cannot be fetched.
pub async fn prepare(request: ComponentRequest<'_>) -> Result<PreparedComponent<'_>, ComponentError> {
    let name = name(&request)?;
    let instance = request.alias.filter(|alias| !alias.is_empty()).unwrap_or(&name).to_owned();
    (request.report)(Step::Text(if instance == name {
        format!("Compile component {name}...")
    } else {
        format!("Compile component {name} as {instance}...")
    }));
    let component = Dependency {
        name: name.clone(),
        component: name.clone(),
        worktree: request.component.to_owned(),
        ..Dependency::default()
    };
    write_inventory(&request, &component, &instance)?;
    let inventory = Inventory::read(&request.temporary.inventory()).map_err(CatalogError::from)?;
    let inventory = inventory.with_paths_of_originals();
    let nodes = render_all(&inventory, std::slice::from_ref(&instance))?;
    install(&request, &component, &instance, &nodes).await?;
    let targets = std::slice::from_ref(&instance);
    fetch_dependencies(&nodes, targets, request.output, request.context).await?;
    let key_orders = key_orders(inventory, targets.to_vec());
    Ok(PreparedComponent { request, name, instance, nodes, key_orders })
}

fn name(request: &ComponentRequest<'_>) -> Result<String, CatalogError> {
    if let Some(name) = request.name.filter(|name| !name.is_empty()) {
        return Ok(name.to_owned());
    }
    let stem = request.component.file_stem().and_then(|stem| stem.to_str());
    stem.map(|stem| stem.replace(PREFIX, "")).ok_or_else(|| {
        CatalogError::rule_with_hint(
            format!("folder `{}` has no name", request.component.display()),
            "name the component with `--name`",
        )
    })
}

/// Writes the hierarchy of one target: links to the classes of the component and to values.
fn write_inventory(
    request: &ComponentRequest<'_>,
    component: &Dependency,
    instance: &str,
) -> Result<(), CatalogError> {
    let (folder, name) = (request.temporary, component.name.as_str());
    folder.create_folders()?;
    let classes = component.folder().join("class");
    let (class, defaults) = (classes.join(format!("{name}.yml")), classes.join("defaults.yml"));
    for (file, kind) in [(&class, "class"), (&defaults, "default")] {
        if !file.is_file() {
            return Err(CatalogError::rule_with_hint(
                format!("Could not find component {kind} file: {}", file.display()),
                "name the component with `--name`, if its name is not that of its folder",
            ));
        }
    }
    let checked: Vec<_> =
        [defaults.clone(), class.clone()].into_iter().chain(request.values.to_vec()).collect();
    check_removed_references("component", &checked, request.report)?;
    link(&class, &folder.component_classes(), &format!("{name}.yml"))?;
    link(&defaults, &folder.default_classes(), &format!("{name}.yml"))?;
    link(&component.folder(), &folder.dependencies(), name)?;
    let mut values = Vec::new();
    for file in request.values {
        let parts = (
            file.file_name().and_then(|name| name.to_str()),
            file.file_stem().and_then(|stem| stem.to_str()),
        );
        let (Some(file_name), Some(stem)) = parts else {
            return Err(CatalogError::rule(format!("`{}` is no name of a class", file.display())));
        };
        link(file, &folder.classes(), file_name)?;
        values.push(stem.to_owned());
    }
    write_file(&folder.parameters_file(), &parameters_text(name, instance))?;
    let target = TargetInstance { name: instance, component: name, folder: &component.folder() };
    let target = target_text(&target, &values);
    write_file(&folder.target_file(instance), &target)?;
    write_file(&folder.libraries().join("argocd.libjsonnet"), ARGOCD_LIBRARY)
}

/// Checks the component, and installs its libraries.
async fn install(
    request: &ComponentRequest<'_>,
    component: &Dependency,
    instance: &str,
    nodes: &BTreeMap<String, Node>,
) -> Result<(), CatalogError> {
    let (folder, name) = (request.temporary, component.name.as_str());
    let parameters = nodes.get(instance).map_or(&Value::Null, |node| &node.parameters);
    link_libraries(folder, component, &BTreeSet::from([name.to_owned()]))?;
    check_instances(nodes, parameters, &BTreeMap::from([(instance.to_owned(), name.to_owned())]))?;
    (request.report)(Step::InstallLibraryAliases);
    let components = BTreeMap::from([(name.to_owned(), component.clone())]);
    install_aliases(folder, &components, parameters, request.report)?;
    render_jsonnetfile(component, component_parameters(parameters, name)?, request.control)?;
    if !component.folder().join("jsonnetfile.json").is_file() {
        let text = "No jsonnetfile.json found, skipping Jsonnet Bundler install.";
        (request.report)(Step::Text(text.to_owned()));
    }
    let libraries = BundlerRequest { context: request.context, folder: request.component, local: Vec::new() };
    install_libraries(libraries).await
}

impl PreparedComponent<'_> {
    /// Writes the files of the component, and runs its filters.
    ///
    /// # Errors
    /// An input or a filter fails.
    pub fn compile(&self, tools: &dyn Tools) -> Result<(), ComponentError> {
        let ComponentRequest { component, output, temporary, control, report, .. } = self.request;
        report(Step::Compile);
        let own = [component.join("vendor"), temporary.dependencies(), temporary.root().to_owned()];
        let search_paths: Vec<_> = self.request.search_paths.iter().cloned().chain(own).collect();
        let compiled = compile(&CompileRequest {
            nodes: &self.nodes,
            key_orders: &self.key_orders,
            targets: std::slice::from_ref(&self.instance),
            search_paths: &search_paths,
            output,
            references: References::PathOnly,
            control,
            threads: 1,
            tools,
            results: None,
        })?;
        for message in compiled.messages.into_iter().flat_map(|(_, messages)| messages) {
            report(Step::Warning(message));
        }
        let to = output.join("compiled").join(&self.instance);
        report(Step::Notice(format!("Component compiled to {}", to.display())));
        report(Step::Postprocess);
        let Some(node) = self.nodes.get(&self.instance) else { return Ok(()) };
        let notices = postprocess(&PostprocessRequest {
            instance: &self.instance,
            component: &self.name,
            component_folder: component,
            node,
            key_orders: &self.key_orders,
            control,
            output,
        })?;
        for notice in notices {
            report(Step::Text(notice));
        }
        Ok(())
    }
}
