//! The stages of a compilation, in the order of Commodore.
//!
//! ```text
//! set_up: repositories, packages, components, targets ─► Workspace
//! prepare: parameters of all targets, rules, Jsonnet libraries ─► Prepared
//! compile, postprocess ─► compiled/ ─► stage: catalog/, changes ─► commit, push, report
//! ```

mod local;
mod notices;
mod prepare;
mod render;
mod set_up;

use std::collections::BTreeMap;
use std::path::PathBuf;

use manifest::{Map, Value};
use repository::RepositoryContext;
use repository::git::GitAuthor;

pub use notices::notices_text;
pub(crate) use render::{key_orders, render_all};

use crate::compile::{CompileRequest, DependencyError, StoredResults, Tools, compile, fetch_dependencies};
use crate::component::ComponentError;
use crate::dependencies::{Dependency, Fetcher};
use crate::error::CatalogError;
use crate::folder_update::{UnlistedPolicy, WantedEntry, WantedFolder};
use crate::jsonnet::EvaluationControl;
use crate::postprocess::{PostprocessRequest, postprocess};
use crate::reclass::{KeyOrders, Node};
use crate::references::{ReferenceFile, References, collect};
use crate::repository::{CatalogCheckout, CompileReport, ConfigCheckout};
use crate::step::{Step, StepSink};
use crate::working_folder::{CLUSTER_TARGET, WorkingFolder};

/// The choices of a compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Discards local changes.
    pub force: bool,
    /// Installs Jsonnet libraries.
    pub fetch_dependencies: bool,
    /// The revision of the global repository, instead of that of the API.
    pub global_revision: Option<String>,
    /// The revision of the repository of the tenant, instead of that of the API.
    pub tenant_revision: Option<String>,
    /// Dynamic facts for a cluster without dynamic facts.
    pub dynamic_facts: Map<String, Value>,
    /// The author of commits; none for the configuration of Git.
    pub author: Option<GitAuthor>,
    /// The limits of programs.
    pub control: EvaluationControl,
    /// The class with the parameters of the cluster, in local mode. None for that of the last run.
    pub cluster_file: Option<PathBuf>,
}

/// The compilation of one catalog.
#[derive(Clone, Copy)]
pub struct CompileRun<'a> {
    /// The working folder.
    pub folder: &'a WorkingFolder,
    /// The access to repositories.
    pub context: &'a RepositoryContext,
    /// The choices of the user.
    pub options: &'a CompileOptions,
    /// The receiver of steps.
    pub report: StepSink<'a>,
}

/// The fetched repositories and dependencies of a cluster or package.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The components. Each is checked out, also if only its aliases are instances.
    pub components: BTreeMap<String, Dependency>,
    /// The instances, with the component of each.
    pub instances: BTreeMap<String, Dependency>,
    /// The packages of the hierarchy.
    pub packages: Vec<Dependency>,
    /// The catalog. None in local mode without a checkout.
    pub catalog: Option<CatalogCheckout>,
    global: Option<ConfigCheckout>,
    tenant: Option<ConfigCheckout>,
}

/// The means of a compilation.
#[derive(Clone, Copy)]
pub struct Compiler<'a> {
    /// The maximum number of instances that are compiled at once.
    pub threads: usize,
    /// The work that the binary does for instances.
    pub tools: &'a dyn Tools,
    /// The results of earlier runs. None to compile all instances.
    pub results: Option<StoredResults<'a>>,
    /// The receiver of messages of the inputs.
    pub warn: &'a dyn Fn(String),
}

/// The parameters of all targets, after all checks.
#[derive(Debug)]
pub struct Prepared {
    /// The rendered targets.
    pub nodes: BTreeMap<String, Node>,
    /// The orders of the keys of their parameters.
    pub key_orders: KeyOrders,
    /// Notices for the end of the run.
    pub notices: Vec<String>,
}

impl Workspace {
    /// Returns the component of each instance.
    fn components_of_instances(&self) -> BTreeMap<String, String> {
        let components = self.instances.iter();
        components.map(|(name, instance)| (name.clone(), instance.component.clone())).collect()
    }

    /// Returns the commits of the compilation. The time has the form of RFC 3339 with milliseconds.
    pub fn compile_report(&self, time: String) -> CompileReport {
        CompileReport {
            instances: self.instances.values().cloned().collect(),
            packages: self.packages.clone(),
            global: self.global.clone(),
            tenant: self.tenant.clone(),
            time,
        }
    }
}

impl<'a> CompileRun<'a> {
    /// Reports that the catalog gets new manifests. They change at the end, and only where they differ.
    pub fn report_catalog(&self, workspace: &Workspace) {
        self.report(Step::CleanCatalog);
        let manifests = self.folder.manifests();
        let known = workspace.catalog.as_ref().and_then(CatalogCheckout::has_manifests);
        if !known.unwrap_or_else(|| manifests.is_dir()) {
            let text = format!("Skipping cleaning, catalog directory {} doesn't exist", manifests.display());
            self.report(Step::Notice(text));
        }
    }

    /// Replaces the files of references to secrets in the catalog, and returns them.
    ///
    /// # Errors
    /// A reference cannot be stored.
    pub fn update_references(
        &self,
        workspace: &Workspace,
        prepared: &Prepared,
    ) -> Result<Vec<ReferenceFile>, ComponentError> {
        self.report(Step::UpdateReferences);
        let parameters = prepared.nodes.iter().map(|(name, node)| (name.clone(), &node.parameters)).collect();
        let references = collect(&parameters, &workspace.components_of_instances(), CLUSTER_TARGET)?;
        self.write_references(&references)?;
        Ok(references)
    }

    fn write_references(&self, files: &[ReferenceFile]) -> Result<(), CatalogError> {
        let mut wanted = WantedFolder::default();
        for file in files {
            wanted.add(PathBuf::from(&file.path), WantedEntry::Content(file.content.as_bytes(), None));
        }
        Ok(wanted.update(&self.folder.references(), self.folder.root(), UnlistedPolicy::KeepHidden)?)
    }

    /// Checks out the last commit of the catalog, with the files of references to secrets of this run.
    ///
    /// # Errors
    /// Git fails, or a file cannot be written.
    pub async fn check_out_catalog(
        &self,
        workspace: &Workspace,
        references: &[ReferenceFile],
    ) -> Result<(), CatalogError> {
        let Some(catalog) = &workspace.catalog else { return Ok(()) };
        catalog.check_out(self.fetcher()).await?;
        self.write_references(references)
    }

    /// Fetches charts and files that the instances need.
    ///
    /// # Errors
    /// Something cannot be fetched.
    pub async fn fetch_inputs(
        &self,
        workspace: &Workspace,
        prepared: &Prepared,
    ) -> Result<(), DependencyError> {
        if self.options.fetch_dependencies {
            let targets: Vec<String> = workspace.instances.keys().cloned().collect();
            fetch_dependencies(&prepared.nodes, &targets, self.folder.root(), self.context).await?;
        }
        Ok(())
    }

    /// Compiles all instances into the folder `compiled`, and runs their filters. Returns the instances without a result
    /// of an earlier run.
    ///
    /// # Errors
    /// An input or a filter fails, or a file cannot be written.
    pub fn compile_instances(
        &self,
        workspace: &Workspace,
        prepared: &Prepared,
        compiler: Compiler<'_>,
    ) -> Result<Vec<String>, ComponentError> {
        let targets: Vec<String> = workspace.instances.keys().cloned().collect();
        let compiled = compile(&CompileRequest {
            nodes: &prepared.nodes,
            key_orders: &prepared.key_orders,
            targets: &targets,
            search_paths: &[self.folder.vendor(), self.folder.root().to_owned()],
            output: self.folder.root(),
            references: References::Hashed { folder: self.folder.references() },
            control: &self.options.control,
            threads: compiler.threads,
            tools: compiler.tools,
            results: compiler.results,
        })?;
        for (target, messages) in compiled.messages {
            for message in messages {
                (compiler.warn)(format!("{target}: {message}"));
            }
        }
        self.report(Step::Postprocess);
        for (name, instance) in &workspace.instances {
            let Some(node) = prepared.nodes.get(name) else { continue };
            let notices = postprocess(&PostprocessRequest {
                instance: name,
                component: &instance.component,
                component_folder: &instance.folder(),
                node,
                key_orders: &prepared.key_orders,
                control: &self.options.control,
                output: self.folder.root(),
            })?;
            for notice in notices {
                self.report(Step::Text(notice));
            }
        }
        Ok(compiled.rendered)
    }

    /// Copies the compiled files of all instances into the catalog.
    ///
    /// # Errors
    /// A file cannot be copied.
    pub fn copy_manifests(&self, workspace: &Workspace) -> Result<(), CatalogError> {
        self.report(Step::UpdateCatalogRepository);
        crate::repository::copy_manifests(self.folder, workspace.instances.keys())
    }

    pub(crate) fn report(&self, step: Step) {
        (self.report)(step);
    }

    fn fetcher(&self) -> Fetcher<'a> {
        Fetcher { folder: self.folder, context: self.context, force: self.options.force }
    }
}
