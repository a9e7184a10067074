use std::cell::RefCell;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use catalog::cluster::{Cluster, parse_dynamic_facts};
use catalog::compile::{CompileRequest, compile, fetch_dependencies};
use catalog::references::References;
use catalog::repository::{CatalogChanges, DiffPolicy};
use catalog::run::{CompileOptions, CompileRun, Prepared, Workspace, notices_text};
use catalog::{CLUSTER_TARGET, CatalogError, Step, WorkingFolder};
use repository::git::GitAuthor;

use super::{lieutenant::LieutenantFlags, tools::SessionTools};
use crate::{Failure, session::Session, ui::confirm};

/// Compile the catalog of a cluster, and push it on request
///
/// Fetches the hierarchy, packages, components and libraries of the cluster into the working folder, compiles all
/// component instances, and shows the changes of the catalog. The flags, texts and files are those of `commodore catalog
/// compile`. Each flag is also a variable, such as `COMMODORE_PUSH`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog compile c-green-1 --api-url https://syn.example.org
  {bin} catalog compile c-green-1 --local
  {bin} catalog compile c-green-1 --push --interactive")]
pub(crate) struct Compile {
    /// Id of the cluster
    #[arg(value_name = "CLUSTER")]
    cluster: String,

    /// Working folder [default: the current folder]
    #[arg(short = 'd', long, visible_alias = "directory", value_name = "FOLDER")]
    working_dir: Option<PathBuf>,

    #[command(flatten)]
    api: LieutenantFlags,

    /// Use the working folder, without API and remotes
    #[arg(long)]
    local: bool,

    /// Commit and push the catalog
    #[arg(long)]
    push: bool,

    /// Show the changes, and ask before the push
    #[arg(short, long)]
    interactive: bool,

    /// Discard local changes in fetched repositories
    #[arg(long, overrides_with = "no_force")]
    force: bool,

    #[arg(long, hide = true)]
    no_force: bool,

    /// Name of the author of commits [default: $GIT_AUTHOR_NAME, else user.name of Git]
    #[arg(long, value_name = "NAME")]
    git_author_name: Option<String>,

    /// Address of the author of commits [default: $GIT_AUTHOR_EMAIL, else user.email of Git]
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

    /// Use the installed Jsonnet libraries; only with `--local`
    #[arg(short = 'F', long)]
    no_fetch_dependencies: bool,

    /// Dynamic fact for a cluster without dynamic facts; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    dynamic_fact: Vec<String>,

    /// Hide changes of a migration: kapitan-0.29-to-0.30 or ignore-yaml-formatting
    #[arg(short, long, value_name = "MIGRATION")]
    migration: Option<String>,

    /// Allow inputs of type `external` to run programs
    #[arg(long)]
    allow_external: bool,

    /// Targets to compile at once; 0: all processors
    #[arg(long, value_name = "COUNT")]
    processes: Option<usize>,
}

/// The flags and variables of a run.
struct Settings {
    local: bool,
    push: bool,
    interactive: bool,
    migration: DiffPolicy,
    threads: usize,
    options: CompileOptions,
    /// Notices about the flags.
    notices: Vec<String>,
}

pub(super) fn run(args: &Compile, session: &mut Session) -> Result<(), Failure> {
    let settings = args.settings(session)?;
    let environment = session.environment();
    let root =
        args.working_dir.clone().or_else(|| environment.text("COMMODORE_WORKING_DIR").map(PathBuf::from));
    let folder = WorkingFolder::new(environment.resolve(root.unwrap_or_default()));
    let context = session.repositories()?;
    let lines = Lines::default();
    let report = |step: Step| lines.add(&step);
    let run = CompileRun { folder: &folder, context: &context, options: &settings.options, report: &report };
    for notice in &settings.notices {
        lines.add(&Step::Text(notice.clone()));
    }
    let work = Work { args, settings: &settings, run, folder: &folder };
    let result = work.run(&lines, session);
    lines.print(session)?;
    result
}

struct Work<'a> {
    args: &'a Compile,
    settings: &'a Settings,
    run: CompileRun<'a>,
    folder: &'a WorkingFolder,
}

impl Work<'_> {
    fn run(&self, lines: &Lines, session: &mut Session) -> Result<(), Failure> {
        let workspace = self.set_up(session)?;
        lines.print(session)?;
        let prepared = session.block_on(self.run.prepare(&workspace))?;
        self.compile(&workspace, &prepared, lines, session)?;
        lines.print(session)?;
        let is_pushed = self.update(&workspace, lines, session)?;
        lines.add(&Step::Compiled);
        lines.add_text(&notices_text(&prepared.notices));
        lines.print(session)?;
        if is_pushed { self.report(&workspace, session) } else { Ok(()) }
    }

    fn set_up(&self, session: &Session) -> Result<Workspace, Failure> {
        if self.settings.local {
            return session.block_on(self.run.set_up_local(&self.args.cluster));
        }
        let api = self.args.api.open(self.run.context, session)?;
        session.block_on(async {
            let cluster = api.get("clusters", &self.args.cluster).await.map_err(CatalogError::Cluster)?;
            let Some(tenant) = cluster.get("tenant").and_then(manifest::Value::as_str) else {
                return Err(Failure::user("cluster does not have a tenant reference"));
            };
            let tenant = api.get("tenants", tenant).await.map_err(CatalogError::Cluster)?;
            let cluster = Cluster::from_responses(&cluster, &tenant)?;
            Ok(self.run.set_up(&cluster).await?)
        })
    }

    /// Compiles all instances into the catalog.
    fn compile(
        &self,
        workspace: &Workspace,
        prepared: &Prepared,
        lines: &Lines,
        session: &Session,
    ) -> Result<(), Failure> {
        let (folder, instances) = (self.folder, workspace.components_of_instances());
        lines.add(&Step::UpdateReferences);
        let parameters = prepared.nodes.iter().map(|(name, node)| (name.clone(), &node.parameters)).collect();
        let references = catalog::references::collect(&parameters, &instances, CLUSTER_TARGET)?;
        self.run.write_references(&references)?;
        self.run.clean_catalog()?;
        lines.add(&Step::Compile);
        let targets: Vec<String> = instances.keys().cloned().collect();
        if self.settings.options.fetch_dependencies {
            let fetch = fetch_dependencies(&prepared.nodes, &targets, folder.root(), self.run.context);
            session.block_on(fetch)?;
        }
        let compiled = compile(&CompileRequest {
            nodes: &prepared.nodes,
            targets: &targets,
            search_paths: &[folder.vendor(), folder.root().to_owned()],
            output: folder.root(),
            references: References::Hashed { folder: folder.references() },
            threads: self.settings.threads,
            tools: &SessionTools { session, program_folder: self.args.allow_external.then(|| folder.root()) },
        })?;
        for (target, messages) in compiled.messages {
            for message in messages {
                session.messages().warning(format!("{target}: {message}"));
            }
        }
        Ok(self.run.postprocess(workspace, prepared)?)
    }

    /// Shows the changes of the catalog, and pushes them on request. Returns true after a push.
    fn update(&self, workspace: &Workspace, lines: &Lines, session: &mut Session) -> Result<bool, Failure> {
        self.run.copy_manifests(workspace)?;
        let (policy, started_at) = (self.settings.migration, Instant::now());
        let is_smart = policy != DiffPolicy::Everything;
        let notice = |text: &str| lines.add(&Step::Notice(text.to_owned()));
        if is_smart {
            notice("Smart diffing started... (this can take a while)");
        }
        let CatalogChanges { text, exist } = session.block_on(workspace.catalog.stage(policy))?;
        if !exist {
            notice("No changes.");
            notice("Skipping commit+push to catalog...");
            return Ok(false);
        }
        notice("Changes:");
        lines.add(&Step::Text(text));
        if is_smart {
            notice(&format!("Smart diffing took {:.2}s", started_at.elapsed().as_secs_f64()));
        }
        if self.settings.local {
            session.block_on(workspace.catalog.unstage())?;
            notice("Skipping commit+push to catalog in local mode...");
            return Ok(false);
        }
        lines.print(session)?;
        if self.settings.push && (!self.settings.interactive || ask(session)?) {
            let message = workspace.compile_report(now()).commit_message();
            session.block_on(workspace.catalog.commit_and_push(&message, self.run.report))?;
            return Ok(true);
        }
        notice("Skipping commit+push to catalog...");
        notice("Use flag --push to commit and push the catalog repo");
        notice("Add flag --interactive to show the diff and decide on the push");
        Ok(false)
    }

    /// Reports a pushed catalog to the API.
    fn report(&self, workspace: &Workspace, session: &Session) -> Result<(), Failure> {
        let api = self.args.api.open(self.run.context, session)?;
        let report = workspace.compile_report(now()).to_value(env!("CARGO_PKG_VERSION"));
        session.block_on(async {
            let path = ["clusters", self.args.cluster.as_str(), "compileMeta"];
            api.post(&path, &report).await.map_err(CatalogError::Report)
        })
    }
}

impl Compile {
    fn settings(&self, session: &Session) -> Result<Settings, Failure> {
        let text = |flag: &Option<String>, names: &[&str]| {
            let variable = || names.iter().find_map(|name| session.environment().text(name));
            flag.as_deref().or_else(variable).map(str::to_owned)
        };
        let is_set = |flag: bool, name: &str| {
            let variable = session.environment().text(name).map(str::to_ascii_lowercase);
            flag || variable
                .is_some_and(|value| matches!(value.as_str(), "1" | "true" | "t" | "yes" | "y" | "on"))
        };
        let local = is_set(self.local, "COMMODORE_LOCAL");
        let push = is_set(self.push, "COMMODORE_PUSH");
        let revision = |flag, name: &str| text(flag, &[&format!("COMMODORE_{name}"), name]);
        let global_revision = revision(&self.global_repo_revision_override, "GLOBAL_REPO_REVISION_OVERRIDE");
        let tenant_revision = revision(&self.tenant_repo_revision_override, "TENANT_REPO_REVISION_OVERRIDE");
        if push && (global_revision.is_some() || tenant_revision.is_some()) {
            return Err(Failure::user(
                "Cannot push changes when local global or tenant repo override is specified",
            )
            .hint("compile without `--push`, or without a revision"));
        }
        let mut notices = Vec::new();
        let fetches = !is_set(self.no_fetch_dependencies, "COMMODORE_NO_FETCH_DEPENDENCIES");
        if !fetches && !local {
            notices.push(
                "[WARN] --no-fetch-dependencies doesn't take effect unless --local is specified".to_owned(),
            );
        }
        let facts = parse_dynamic_facts(self.dynamic_fact.iter().map(String::as_str));
        notices.extend(facts.notices);
        let name = text(&self.git_author_name, &["GIT_AUTHOR_NAME"]);
        let email = text(&self.git_author_email, &["GIT_AUTHOR_EMAIL"]);
        let author = name.zip(email).map(|(name, email)| GitAuthor { name, email });
        Ok(Settings {
            local,
            push,
            interactive: is_set(self.interactive, "COMMODORE_INTERACTIVE"),
            migration: diff_policy(text(&self.migration, &["COMMODORE_MIGRATION"]).as_deref())?,
            threads: self.threads(session)?,
            options: CompileOptions {
                force: !local && !self.no_force && is_set(self.force, "COMMODORE_FORCE"),
                fetch_dependencies: fetches || !local || self.fetch_dependencies,
                global_revision,
                tenant_revision,
                dynamic_facts: facts.facts,
                author,
            },
            notices,
        })
    }

    fn threads(&self, session: &Session) -> Result<usize, Failure> {
        let variable = session.environment().text("COMMODORE_PROCESSES");
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

fn diff_policy(migration: Option<&str>) -> Result<DiffPolicy, Failure> {
    match migration.map(str::to_ascii_lowercase).as_deref() {
        None | Some("") => Ok(DiffPolicy::Everything),
        Some("kapitan-0.29-to-0.30") => Ok(DiffPolicy::Kapitan029To030),
        Some("ignore-yaml-formatting") => Ok(DiffPolicy::IgnoreYamlFormat),
        Some(other) => Err(Failure::user(format!("invalid value `{other}` for `--migration`"))
            .hint("use kapitan-0.29-to-0.30 or ignore-yaml-formatting")),
    }
}

fn ask(session: &Session) -> Result<bool, Failure> {
    session.block_on(async {
        confirm(" > Should the push be done?").await.map_err(|error| {
            Failure::user("cannot ask whether to push the catalog")
                .because_foreign(&error)
                .hint("run the command in a terminal, or without `--interactive`")
        })
    })
}

/// Returns the time in the form of the report.
fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
}

/// Lines for stdout. Futures add them, and the verb prints them between two stages.
#[derive(Default)]
pub(super) struct Lines(RefCell<String>);

impl Lines {
    pub(super) fn add(&self, step: &Step) {
        self.add_text(&format!("{step}\n"));
    }

    fn add_text(&self, text: &str) {
        self.0.borrow_mut().push_str(text);
    }

    pub(super) fn print(&self, session: &mut Session) -> Result<(), Failure> {
        let text = self.0.take();
        session.printer().write(text)?;
        session.printer().flush()
    }
}
