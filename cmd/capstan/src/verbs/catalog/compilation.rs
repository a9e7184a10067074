//! The compilation of a catalog, for the verbs that need one: its flags, its stages, and its tools.

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use catalog::cluster::{Cluster, parse_dynamic_facts};
use catalog::compile::StoredResults;
use catalog::run::{CompileOptions, CompileRun, Compiler, Prepared, Workspace};
use catalog::{CatalogError, EvaluationControl, Step, WorkingFolder};
use repository::git::GitAuthor;
use transport::store::KeyLock;

use super::{
    lieutenant::LieutenantFlags,
    tools::{SessionTools, evaluation_control},
};
use crate::{Environment, Failure, session::Session, ui::format_count, verbs::path_lock::take_turn};

/// The words for a working folder that another run changes.
pub(super) const WORKING_FOLDER: &str = "in the working folder";

/// The flags that select a working folder and the source of a cluster.
#[derive(clap::Args)]
pub(super) struct SourceFlags {
    #[command(flatten)]
    working_dir: WorkingDirFlag,

    #[command(flatten)]
    pub(super) api: LieutenantFlags,

    /// Use the working folder, without API and remotes
    #[arg(long)]
    pub(super) local: bool,

    /// Parameters of the cluster; only with `--local`
    #[arg(long, value_name = "FILE")]
    cluster_file: Option<PathBuf>,

    /// Allow inputs of type `external` to run programs
    #[arg(long)]
    allow_external: bool,

    /// Compile unchanged instances too
    #[arg(long)]
    no_cache: bool,
}

/// The flag that selects a working folder.
#[derive(clap::Args)]
pub(crate) struct WorkingDirFlag {
    /// Working folder [default: the current folder]
    #[arg(short = 'd', long, visible_alias = "directory", value_name = "FOLDER")]
    working_dir: Option<PathBuf>,
}

impl WorkingDirFlag {
    /// Returns the folder of the flag, or else of its variable, or else the current folder.
    pub(super) fn folder(&self, environment: &Environment) -> WorkingFolder {
        let variable = || environment.text("COMMODORE_WORKING_DIR").map(PathBuf::from);
        let folder = self.working_dir.clone().or_else(variable).unwrap_or_default();
        WorkingFolder::new(environment.resolve(folder))
    }

    /// Deletes everything that a compilation created in the folder.
    pub(super) fn clean(&self, session: &mut Session) -> Result<(), Failure> {
        let folder = self.folder(session.environment());
        let _turn = take_turn(folder.root(), WORKING_FOLDER, &session.repositories()?, session)?;
        session.printer().write(format!("{}\n", Step::CleanWorkingTree))?;
        Ok(folder.clean()?)
    }
}

/// Flags that all verbs read from variables, and that `catalog compile` also has.
#[derive(clap::Args, Default)]
pub(super) struct CompileFlags {
    /// Discard local changes in fetched repositories
    #[arg(long, overrides_with = "no_force")]
    force: bool,

    #[arg(long, hide = true)]
    no_force: bool,

    /// Author of commits [default: that of Git]
    #[arg(long, value_name = "NAME")]
    git_author_name: Option<String>,

    /// Address of the author [default: that of Git]
    #[arg(long, value_name = "EMAIL")]
    git_author_email: Option<String>,

    /// Revision of the global repository
    #[arg(short, long, value_name = "REVISION")]
    global_repo_revision_override: Option<String>,

    /// Revision of the repository of the tenant
    #[arg(short, long, value_name = "REVISION")]
    tenant_repo_revision_override: Option<String>,

    /// Install Jsonnet libraries, also with `--local`
    #[arg(long, overrides_with = "no_fetch_dependencies", hide = true)]
    fetch_dependencies: bool,

    /// Use installed Jsonnet libraries; with `--local`
    #[arg(short = 'F', long)]
    no_fetch_dependencies: bool,

    /// Dynamic fact for a cluster without any; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    dynamic_fact: Vec<String>,

    /// Targets to compile at once; 0: all processors
    #[arg(long, value_name = "COUNT")]
    processes: Option<usize>,
}

/// The compilation of the catalog of one cluster.
pub(super) struct Compilation<'a> {
    pub(super) cluster: &'a str,
    pub(super) flags: &'a SourceFlags,
    pub(super) folder: WorkingFolder,
    pub(super) local: bool,
    pub(super) options: CompileOptions,
    /// Notices about the flags.
    pub(super) notices: Vec<String>,
    threads: usize,
}

/// A compiled catalog in the working folder.
pub(super) struct CompiledCatalog {
    pub(super) workspace: Workspace,
    /// The instances without a result of an earlier run.
    pub(super) rendered: Vec<String>,
    /// No other run changes the working folder as long as this value exists.
    _lock: Option<KeyLock>,
}

impl<'a> Compilation<'a> {
    /// Reads the flags and variables of a compilation.
    pub(super) fn new(
        cluster: &'a str,
        flags: &'a SourceFlags,
        compile_flags: &CompileFlags,
        session: &Session,
    ) -> Result<Self, Failure> {
        let environment = session.environment();
        let local = is_set(flags.local, "COMMODORE_LOCAL", environment);
        let mut notices = Vec::new();
        let mut options = compile_flags.options(local, flags, environment, &mut notices)?;
        options.control = evaluation_control(session)?;
        Ok(Self {
            cluster,
            flags,
            folder: flags.working_dir.folder(environment),
            local,
            options,
            notices,
            threads: compile_flags.threads(environment)?,
        })
    }

    /// Waits until no other run compiles in the working folder.
    pub(super) fn lock(&self, session: &Session) -> Result<Option<KeyLock>, Failure> {
        take_turn(self.folder.root(), WORKING_FOLDER, &session.repositories()?, session)
    }

    /// Fetches everything that the catalog needs, or finds it in the working folder.
    pub(super) fn set_up(&self, run: &CompileRun<'_>, session: &Session) -> Result<Workspace, Failure> {
        if self.local {
            return session.block_on(run.set_up_local(self.cluster));
        }
        let api = self.flags.api.open(run.context, session)?;
        session.block_on(async {
            let cluster = api.get("clusters", self.cluster).await.map_err(CatalogError::Cluster)?;
            let Some(tenant) = cluster.get("tenant").and_then(manifest::Value::as_str) else {
                return Err(Failure::user("cluster does not have a tenant reference"));
            };
            let tenant = api.get("tenants", tenant).await.map_err(CatalogError::Cluster)?;
            let cluster = Cluster::from_responses(&cluster, &tenant)?;
            Ok(run.set_up(&cluster).await?)
        })
    }

    /// Compiles all instances into the folder `compiled`. Returns those that have no result of an earlier run.
    pub(super) fn compile(
        &self,
        run: &CompileRun<'_>,
        workspace: &Workspace,
        prepared: &Prepared,
        session: &Session,
    ) -> Result<Vec<String>, Failure> {
        let references = run.update_references(workspace, prepared)?;
        run.report_catalog(workspace);
        (run.report)(Step::Compile);
        session.block_on(run.fetch_inputs(workspace, prepared))?;
        let store = run.context.store().filter(|_| !self.flags.no_cache);
        let program = program_identity();
        let program_folder = self.flags.allow_external.then(|| self.folder.root());
        let compiler = Compiler {
            threads: self.threads,
            tools: &SessionTools::new(session, program_folder)?,
            results: store.map(|store| StoredResults { store, cluster: self.cluster, program: &program }),
            warn: &|message| session.messages().warning(message),
        };
        let rendered = run.compile_instances(workspace, prepared, compiler)?;
        let (count, all) = (rendered.len(), format_count(workspace.instances.len(), "instance"));
        session.messages().log(1, format!("compiled {count} of {all}: {}", rendered.join(", ")));
        session.block_on(run.check_out_catalog(workspace, &references))?;
        Ok(rendered)
    }

    /// Fetches and compiles the catalog into the folder `catalog/manifests`. Steps are logged.
    pub(super) fn compile_quietly(&self, session: &Session) -> Result<CompiledCatalog, Failure> {
        let context = session.repositories()?;
        let lock = self.lock(session)?;
        let messages = session.messages().clone();
        let report = move |step: Step| match step {
            Step::Warning(text) => messages.warning(text),
            step => messages.log(1, step.to_string()),
        };
        for notice in &self.notices {
            report(Step::Text(notice.clone()));
        }
        let run =
            CompileRun { folder: &self.folder, context: &context, options: &self.options, report: &report };
        let compiled = || {
            let workspace = self.set_up(&run, session)?;
            let prepared = session.block_on(run.prepare(&workspace))?;
            let rendered = self.compile(&run, &workspace, &prepared, session)?;
            run.copy_manifests(&workspace)?;
            Ok((workspace, rendered))
        };
        let (workspace, rendered) = compiled().map_err(|failure| session.interruption_or(failure))?;
        Ok(CompiledCatalog { workspace, rendered, _lock: lock })
    }
}

impl CompileFlags {
    fn options(
        &self,
        local: bool,
        flags: &SourceFlags,
        environment: &Environment,
        notices: &mut Vec<String>,
    ) -> Result<CompileOptions, Failure> {
        let revision =
            |flag: Option<&str>, name: &str| text(flag, &[&format!("COMMODORE_{name}"), name], environment);
        let fetches = !is_set(self.no_fetch_dependencies, "COMMODORE_NO_FETCH_DEPENDENCIES", environment);
        if !fetches && !local {
            notices.push(
                "[WARN] --no-fetch-dependencies doesn't take effect unless --local is specified".to_owned(),
            );
        }
        let facts = parse_dynamic_facts(self.dynamic_fact.iter().map(String::as_str));
        notices.extend(facts.notices);
        let name = text(self.git_author_name.as_deref(), &["GIT_AUTHOR_NAME"], environment);
        let email = text(self.git_author_email.as_deref(), &["GIT_AUTHOR_EMAIL"], environment);
        if flags.cluster_file.is_some() && !local {
            return Err(Failure::user("`--cluster-file` needs `--local`")
                .hint("without `--local`, the API describes the cluster"));
        }
        Ok(CompileOptions {
            force: !local && !self.no_force && is_set(self.force, "COMMODORE_FORCE", environment),
            fetch_dependencies: fetches || !local || self.fetch_dependencies,
            global_revision: revision(
                self.global_repo_revision_override.as_deref(),
                "GLOBAL_REPO_REVISION_OVERRIDE",
            ),
            tenant_revision: revision(
                self.tenant_repo_revision_override.as_deref(),
                "TENANT_REPO_REVISION_OVERRIDE",
            ),
            dynamic_facts: facts.facts,
            author: name.zip(email).map(|(name, email)| GitAuthor { name, email }),
            control: EvaluationControl::default(),
            cluster_file: flags.cluster_file.as_ref().map(|file| environment.resolve(file)),
        })
    }

    fn threads(&self, environment: &Environment) -> Result<usize, Failure> {
        let variable = environment.text("COMMODORE_PROCESSES");
        let count = match (self.processes, variable) {
            (Some(count), _) => count,
            (None, Some(text)) => text.parse().map_err(|_| {
                Failure::user(format!("invalid value `{text}` of COMMODORE_PROCESSES: not a number"))
            })?,
            (None, None) => 0,
        };
        let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
        Ok(if count == 0 { processors() } else { count })
    }
}

/// Returns the failure of a command line without a catalog.
pub(super) fn missing_catalog() -> Failure {
    Failure::user("no catalog is given").hint("name a cluster, or a compiled folder with `--manifests`")
}

/// Returns the value of a flag, or else of the first set variable.
pub(super) fn text(flag: Option<&str>, names: &[&str], environment: &Environment) -> Option<String> {
    let variable = || names.iter().find_map(|name| environment.text(name));
    flag.or_else(variable).map(str::to_owned)
}

/// True if a flag or its variable is set.
pub(super) fn is_set(flag: bool, name: &str, environment: &Environment) -> bool {
    let variable = environment.text(name).map(str::to_ascii_lowercase);
    flag || variable.is_some_and(|value| matches!(value.as_str(), "1" | "true" | "t" | "yes" | "y" | "on"))
}

/// Returns a text that differs between two builds of this program.
fn program_identity() -> String {
    let file = std::env::current_exe().and_then(fs::metadata).ok();
    let built = file.as_ref().and_then(|file| file.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let (built, length) = (built.unwrap_or_default(), file.map_or(0, |file| file.len()));
    format!("{} {length} {}", env!("CARGO_PKG_VERSION"), built.as_nanos())
}
