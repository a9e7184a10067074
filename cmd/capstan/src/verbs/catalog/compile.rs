use std::cell::RefCell;
use std::time::Instant;

use catalog::repository::{CatalogChanges, DiffPolicy};
use catalog::run::{CompileRun, Workspace, notices_text};
use catalog::{CatalogError, Step};

use super::{
    compilation::{Compilation, CompileFlags, SourceFlags, is_set, text},
    watch::watch,
};
use crate::{Failure, session::Session};

/// Compile the catalog of a cluster, and push it on request
///
/// Fetches the hierarchy and the dependencies of the cluster, compiles all component instances, and shows the changes of the
/// catalog. Flags, texts and files are those of `commodore catalog compile`; each flag is also a variable, such as
/// `COMMODORE_PUSH`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog compile c-green-1 --api-url https://syn.example.org
  {bin} catalog compile c-green-1 --local
  {bin} catalog compile c-green-1 --push --interactive")]
pub(crate) struct Compile {
    /// Id of the cluster
    #[arg(value_name = "CLUSTER")]
    cluster: String,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    flags: CompileFlags,

    /// Compile again after each change, until Ctrl-C
    #[arg(long, conflicts_with = "push")]
    watch: bool,

    /// Commit and push the catalog
    #[arg(long)]
    push: bool,

    /// Show the changes, and ask before the push
    #[arg(short, long)]
    interactive: bool,

    /// Hide changes of a migration: kapitan-0.29-to-0.30 or ignore-yaml-formatting
    #[arg(short, long, value_name = "MIGRATION")]
    migration: Option<String>,
}

/// The flags and variables for the changes of a catalog.
struct PushSettings {
    push: bool,
    interactive: bool,
    migration: DiffPolicy,
}

pub(super) fn run(args: &Compile, session: &mut Session) -> Result<(), Failure> {
    let compilation = Compilation::new(&args.cluster, &args.source, &args.flags, session)?;
    let environment = session.environment();
    let migration = text(args.migration.as_deref(), &["COMMODORE_MIGRATION"], environment);
    let settings = PushSettings {
        push: is_set(args.push, "COMMODORE_PUSH", environment),
        interactive: is_set(args.interactive, "COMMODORE_INTERACTIVE", environment),
        migration: diff_policy(migration.as_deref())?,
    };
    let options = &compilation.options;
    if settings.push && (options.global_revision.is_some() || options.tenant_revision.is_some()) {
        return Err(Failure::user(
            "Cannot push changes when local global or tenant repo override is specified",
        )
        .hint("compile without `--push`, or without a revision"));
    }
    compile(&compilation, settings, session)?;
    if args.watch { watch(compilation, session) } else { Ok(()) }
}

fn compile(
    compilation: &Compilation<'_>,
    settings: PushSettings,
    session: &mut Session,
) -> Result<(), Failure> {
    let context = session.repositories()?;
    let _lock = compilation.lock(session)?;
    let lines = Lines::default();
    let report = |step: Step| lines.add(&step);
    let options = &compilation.options;
    let run = CompileRun { folder: &compilation.folder, context: &context, options, report: &report };
    for notice in &compilation.notices {
        lines.add(&Step::Text(notice.clone()));
    }
    let result = Work { compilation, settings, run }.run(&lines, session);
    lines.print(session)?;
    result.map_err(|failure| session.interruption_or(failure))
}

struct Work<'a> {
    compilation: &'a Compilation<'a>,
    settings: PushSettings,
    run: CompileRun<'a>,
}

impl Work<'_> {
    fn run(&self, lines: &Lines, session: &mut Session) -> Result<(), Failure> {
        let workspace = self.compilation.set_up(&self.run, session)?;
        lines.print(session)?;
        let prepared = session.block_on(self.run.prepare(&workspace))?;
        self.compilation.compile(&self.run, &workspace, &prepared, session)?;
        lines.print(session)?;
        let is_pushed = self.update(&workspace, lines, session)?;
        lines.add(&Step::Compiled);
        lines.add_text(&notices_text(&prepared.notices));
        lines.print(session)?;
        if is_pushed { self.report(&workspace, session) } else { Ok(()) }
    }

    /// Shows the changes of the catalog, and pushes them on request. Returns true if the API needs a report.
    fn update(&self, workspace: &Workspace, lines: &Lines, session: &mut Session) -> Result<bool, Failure> {
        self.run.copy_manifests(workspace)?;
        let (policy, started_at) = (self.settings.migration, Instant::now());
        let is_smart = policy != DiffPolicy::Everything;
        let notice = |text: &str| lines.add(&Step::Notice(text.to_owned()));
        if is_smart {
            notice("Smart diffing started... (this can take a while)");
        }
        let Some(catalog) = &workspace.catalog else {
            let folder = self.run.folder.catalog();
            notice(&format!("Skipping diff: '{}' is no checkout of the catalog", folder.display()));
            notice("Skipping commit+push to catalog in local mode...");
            return Ok(false);
        };
        let CatalogChanges { text, exist } = session.block_on(catalog.stage(policy))?;
        if !exist {
            notice("No changes.");
            notice("Skipping commit+push to catalog...");
            return session
                .block_on(async { Ok::<_, Failure>(self.settings.push && catalog.is_unreported().await) });
        }
        notice("Changes:");
        lines.add(&Step::Text(text));
        if is_smart {
            notice(&format!("Smart diffing took {:.2}s", started_at.elapsed().as_secs_f64()));
        }
        if self.compilation.local {
            session.block_on(catalog.unstage())?;
            notice("Skipping commit+push to catalog in local mode...");
            return Ok(false);
        }
        lines.print(session)?;
        if self.settings.push && (!self.settings.interactive || ask(session)?) {
            let message = workspace.compile_report(now()).commit_message();
            session.push(catalog.commit_and_push(&message, self.run.report))?;
            return Ok(true);
        }
        notice("Skipping commit+push to catalog...");
        notice("Use flag --push to commit and push the catalog repo");
        notice("Add flag --interactive to show the diff and decide on the push");
        Ok(false)
    }

    /// Reports a pushed catalog to the API.
    fn report(&self, workspace: &Workspace, session: &Session) -> Result<(), Failure> {
        let api = self.compilation.flags.api.open(self.run.context, session)?;
        let report = workspace.compile_report(now()).to_value(env!("CARGO_PKG_VERSION"));
        session.push(async {
            let path = ["clusters", self.compilation.cluster, "compileMeta"];
            api.post(&path, &report).await.map_err(CatalogError::Report)?;
            if let Some(catalog) = &workspace.catalog {
                catalog.set_reported().await;
            }
            Ok::<_, CatalogError>(())
        })
    }
}

pub(super) fn diff_policy(migration: Option<&str>) -> Result<DiffPolicy, Failure> {
    match migration.map(str::to_ascii_lowercase).as_deref() {
        None | Some("") => Ok(DiffPolicy::Everything),
        Some("kapitan-0.29-to-0.30") => Ok(DiffPolicy::Kapitan029To030),
        Some("ignore-yaml-formatting") => Ok(DiffPolicy::IgnoreYamlFormat),
        Some(other) => Err(Failure::user(format!("invalid value `{other}` for `--migration`"))
            .hint("use kapitan-0.29-to-0.30 or ignore-yaml-formatting")),
    }
}

fn ask(session: &Session) -> Result<bool, Failure> {
    let unanswerable = Failure::user("cannot ask whether to push the catalog")
        .hint("run the command in a terminal, or without `--interactive`");
    session.confirm(" > Should the push be done?", unanswerable)
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
