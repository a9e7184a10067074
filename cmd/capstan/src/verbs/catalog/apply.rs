use std::fs;
use std::path::PathBuf;

use api::{check_dns_subdomain, output::CatalogRunReport, shell_word};
use apply::{PlannedSet, RecordedSet, SetObjects, key_of};
use catalog::manifests::{ManifestObject, Manifests};
use inventory::ManagementCluster;
use management::{DiffDetail, WaitOptions};

use super::{
    applied_catalog::{applied_set, plan_text, report},
    compilation::{Compilation, CompileFlags, SourceFlags, missing_catalog},
};
use crate::{
    Failure,
    session::Session,
    settings::{self, LeaseFlags, OutputFormat, ServerFlags, WAITING},
    ui::format_count,
    verbs::lifecycle::{ShowFlags, wait_until_done},
};

const COMMAND: &str = "catalog apply";
/// The name of a folder that is applied without a name.
const DEFAULT_NAME: &str = "catalog";
/// The maximum number of objects in an error.
const MAX_NAMED: usize = 20;

/// Apply a catalog to a cluster, without a GitOps operator
///
/// Compiles the catalog, applies its objects in waves, and deletes the objects that left it. A record on the cluster lists
/// the applied objects. References to secrets in Vault are not resolved: objects with references are an error, or are left
/// out. Re-run the command to resume an interrupted run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog apply c-green-1 --local --dry-run --sandbox lab
  {bin} catalog apply --manifests work/catalog --skip-references
  {bin} catalog apply monitoring --manifests work/monitoring")]
pub(crate) struct Apply {
    /// Id of the cluster, or the name of the catalog in the folder of `--manifests`
    #[arg(value_name = "CLUSTER")]
    name: Option<String>,

    /// Compiled folder, instead of a compilation
    #[arg(long, value_name = "FOLDER")]
    manifests: Option<PathBuf>,

    /// Leave out objects with references to secrets
    #[arg(long)]
    skip_references: bool,

    /// Namespace of objects without one [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    show: ShowFlags,

    /// Maximum time to wait until all objects are ready, such as 90s or 10m [default: 5m]
    #[arg(long, value_name = "DURATION", help_heading = WAITING)]
    timeout: Option<String>,

    /// Do not wait until the last objects are ready
    #[arg(long, help_heading = WAITING)]
    no_wait: bool,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(super) fn run(args: &Apply, session: &mut Session) -> Result<(), Failure> {
    let format = args.show.format()?;
    let wait = wait_until_done(args.timeout.as_deref(), args.no_wait)?;
    let run = ApplyRun::new(args, session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    if args.show.is_show_only() {
        let plan = run.plan(&cluster, true, session)?;
        let diffs = args.show.diffs(format);
        return run.print(&plan, diffs, format, session);
    }
    // Planning happens under the lease, so that the plan includes changes by the previous run.
    let result = args.lease.hold(COMMAND, &[&cluster], session, |clusters, session| {
        run.execute(&clusters[0], wait, format, session)
    })?;
    session.show_cluster_result(args.server.pace.progress, result);
    Ok(())
}

/// Compiles the catalog, or finds a compiled one. Returns its folder and its content.
fn read_manifests(args: &Apply, session: &Session) -> Result<(PathBuf, Manifests), Failure> {
    let environment = session.environment();
    let read = |folder: PathBuf| {
        let manifests = Manifests::read_folder(&folder)?;
        Ok((folder, manifests))
    };
    match (&args.name, &args.manifests) {
        (_, Some(folder)) => read(environment.resolve(folder)),
        (Some(cluster), None) => {
            let compilation = Compilation::new(cluster, &args.source, &CompileFlags::default(), session)?;
            let _compiled = compilation.compile_quietly(session)?;
            read(compilation.folder.manifests())
        }
        (None, None) => Err(missing_catalog()),
    }
}

/// A catalog for a cluster.
struct ApplyRun {
    name: String,
    /// False for a folder without a name.
    is_named: bool,
    /// The folder of `--manifests`.
    source: Option<String>,
    namespace: String,
    objects: Vec<ManifestObject>,
    left_out: Vec<ManifestObject>,
}

impl ApplyRun {
    /// Compiles or reads the catalog, and checks its objects.
    fn new(args: &Apply, session: &Session) -> Result<Self, Failure> {
        let environment = session.environment();
        let name = args.name.as_deref().unwrap_or(DEFAULT_NAME);
        check_dns_subdomain(name).map_err(|error| {
            Failure::user(format!("cannot apply catalog `{name}`")).because_foreign(&error)
        })?;
        let (folder, manifests) = read_manifests(args, session)?;
        for path in manifests.others.keys() {
            session.messages().warning(format!("`{path}` has no objects; it is ignored"));
        }
        if manifests.objects.is_empty() {
            return Err(Failure::user(format!(
                "cannot apply the catalog: there is no object in `{}`",
                folder.display()
            ))
            .hint("compile the catalog first, or name a folder with manifests"));
        }
        let objects = manifests.into_distinct_objects()?;
        let (objects, left_out) = objects.into_iter().partition(|one| one.references.is_empty());
        let run = Self {
            name: name.to_owned(),
            is_named: args.name.is_some(),
            source: args.manifests.is_some().then(|| {
                let folder = fs::canonicalize(&folder).unwrap_or(folder);
                folder.to_string_lossy().into_owned()
            }),
            namespace: args.server.kube.namespace(args.namespace.as_deref(), environment)?,
            objects,
            left_out,
        };
        if args.skip_references || run.left_out.is_empty() { Ok(run) } else { Err(run.unresolved()) }
    }

    fn unresolved(&self) -> Failure {
        let count = format_count(self.left_out.len(), "object");
        let failure = Failure::user(format!("cannot apply the catalog: {count} with references to secrets"));
        let named =
            self.left_out.iter().take(MAX_NAMED).map(|one| {
                format!("{}: {} has {}", one.file, key_of(&one.object), one.references.join(", "))
            });
        let more =
            self.left_out.len().checked_sub(MAX_NAMED + 1).map(|more| format!("and {} more", more + 1));
        named.chain(more).fold(failure, Failure::cause).hint(
            "leave these objects out with `--skip-references`, and create them with their secrets yourself",
        )
    }

    fn set(&self, cluster: &ManagementCluster) -> RecordedSet {
        RecordedSet { source: self.source.clone(), ..applied_set(cluster, &self.name, &self.namespace) }
    }

    /// Checks that a folder without a name does not replace the objects of another catalog.
    async fn check_source(&self, set: &RecordedSet) -> Result<(), Failure> {
        if self.is_named {
            return Ok(());
        }
        let recorded = set.recorded_source().await?;
        let (Some(recorded), Some(folder)) = (recorded, &self.source) else { return Ok(()) };
        if recorded == *folder {
            return Ok(());
        }
        let other = match &*recorded {
            "" => "another catalog of this name".to_owned(),
            folder => format!("a catalog of this name, from `{folder}`"),
        };
        let command = |name| format!("`capstan catalog apply {name} --manifests {}`", shell_word(folder));
        Err(Failure::user(format!(
            "cannot apply `{folder}` as catalog `{}`: the cluster has {other}",
            self.name
        ))
        .hint(format!("apply it with a name of its own: {}", command("NAME")))
        .hint(format!("replace the objects of catalog `{}`: {}", self.name, command(&self.name))))
    }

    fn plan(
        &self,
        cluster: &ManagementCluster,
        server_check: bool,
        session: &Session,
    ) -> Result<PlannedSet, Failure> {
        let objects = SetObjects {
            objects: self.objects.iter().map(|one| one.object.clone()).collect(),
            left_alone: self.left_out.iter().map(|one| key_of(&one.object)).collect(),
            server_check,
        };
        let set = self.set(cluster);
        session.block_on(async {
            self.check_source(&set).await?;
            Box::pin(set.plan(objects)).await.map_err(Failure::from)
        })
    }

    fn execute(
        &self,
        cluster: &ManagementCluster,
        wait: WaitOptions,
        format: OutputFormat,
        session: &mut Session,
    ) -> Result<String, Failure> {
        let mut plan = self.plan(cluster, false, session)?;
        let report = self.report(&plan, DiffDetail::Hidden, true);
        let set = self.set(cluster);
        let applied = async { set.apply(&mut plan, wait.timeout).await.map_err(Failure::from) };
        session.execute(applied, "re-run the same command to resume")?;
        session.print(format, &report, |_, _| String::new())?;
        let left_out = match self.left_out.len() {
            0 => String::new(),
            count => format!("; left out {}", format_count(count, "object")),
        };
        let writes = session.writes().suffix();
        Ok(if report.changes {
            format!("applied catalog `{}`{writes}{left_out}", self.name)
        } else {
            format!("nothing to change{left_out}")
        })
    }

    fn report(&self, plan: &PlannedSet, diffs: DiffDetail, carried_out: bool) -> CatalogRunReport {
        report(COMMAND, &self.name, plan, &self.left_out, diffs, carried_out)
    }

    fn print(
        &self,
        plan: &PlannedSet,
        diffs: DiffDetail,
        format: OutputFormat,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let report = self.report(plan, diffs, false);
        session.print(format, &report, |report, width| plan_text(report, &self.left_out, diffs, width))
    }
}
