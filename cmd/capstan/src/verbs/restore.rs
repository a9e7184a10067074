use std::path::PathBuf;

use api::output::RestoreReport;
use apply::ObjectKey;
use inventory::ManagementCluster;
use mover::{Backup, MoveRequest, RestoreOptions};

use super::{
    backup::{encryption::DecryptionFlags, inspect::summarize},
    r#move::{
        flags::{cluster_choice, namespace_map, non_empty, save_request, timeout},
        restore::{RestoreResult, RestoreRun},
    },
};
use crate::{
    Failure,
    events::ApiWarnings,
    session::Session,
    settings::{self, KubeFlags, LeaseFlags, OutputFlag, ServerFlags},
};

/// Restore Clusters from a backup
///
/// Creates missing objects and never changes existing ones. Re-run the same command to complete an interrupted restore. The
/// command refuses to start a second copy of a running Cluster: name the source cluster with `--source-kubeconfig`, or use
/// `--paused`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} restore clusters.tar.gz --dry-run
  {bin} restore clusters.tar.gz
  {bin} restore clusters.tar.gz --source-kubeconfig old.yaml
  {bin} restore clusters.tar.gz --map-namespace team-a=tests --paused
  {bin} restore clusters.tar.gz.age --identity key.txt")]
pub(crate) struct Restore {
    /// Backup file to restore
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Namespace to restore; repeatable [default: all]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Vec<String>,

    /// Cluster to restore, NAME or NAMESPACE/NAME
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,

    /// Restore objects of namespace A in namespace B
    #[arg(long, value_name = "A=B")]
    map_namespace: Vec<String>,

    /// Keep restored Clusters paused
    #[arg(long)]
    paused: bool,

    /// Kind whose status is restored; repeatable
    #[arg(long, value_name = "KIND")]
    include_status: Vec<String>,

    /// Show and validate the objects; write nothing
    #[arg(long)]
    dry_run: bool,

    /// Total time to retry requests [default: 10m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    opening: DecryptionFlags,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

/// The flags that name the management cluster that may still run the Clusters.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Source cluster")]
struct SourceFlags {
    /// Cluster that may still run the Clusters
    #[arg(id = "source_kubeconfig", long = "source-kubeconfig", value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Context in that kubeconfig [default: current]
    #[arg(
        id = "source_kubeconfig_context",
        long = "source-kubeconfig-context",
        value_name = "CONTEXT",
        requires = "source_kubeconfig"
    )]
    context: Option<String>,

    /// Sandbox to use as the source cluster
    #[arg(
        id = "source_sandbox",
        long = "source-sandbox",
        value_name = "NAME",
        conflicts_with_all = ["source_kubeconfig", "source_kubeconfig_context"]
    )]
    sandbox: Option<String>,
}

impl SourceFlags {
    fn kube(&self) -> Option<KubeFlags> {
        let kube = KubeFlags {
            kubeconfig: self.kubeconfig.clone(),
            kubeconfig_context: self.context.clone(),
            sandbox: self.sandbox.clone(),
        };
        kube.is_given().then_some(kube)
    }
}

impl Restore {
    /// Returns the words of the command that completes an interrupted restore.
    fn command(&self, session: &Session) -> Vec<String> {
        let path = |path: &PathBuf| session.environment().resolve(path).display().to_string();
        let mut command = vec!["capstan".to_owned(), "restore".to_owned(), path(&self.file)];
        let mut add = |flag: &str, value: String| command.extend([flag.to_owned(), value]);
        for (flag, values) in [
            ("--namespace", &self.namespace),
            ("--cluster", &self.cluster),
            ("--map-namespace", &self.map_namespace),
            ("--include-status", &self.include_status),
        ] {
            for value in non_empty(values) {
                add(flag, value);
            }
        }
        self.opening.files().for_each(|(flag, file)| add(flag, path(file)));
        self.source.kubeconfig.iter().for_each(|file| add("--source-kubeconfig", path(file)));
        self.source.context.iter().for_each(|name| add("--source-kubeconfig-context", name.clone()));
        self.source.sandbox.iter().for_each(|name| add("--source-sandbox", name.clone()));
        command.extend(self.paused.then(|| "--paused".to_owned()));
        command
    }
}

pub(crate) fn run(args: &Restore, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let request = MoveRequest {
        namespace_map: namespace_map(&args.map_namespace)?,
        include_status: non_empty(&args.include_status).iter().map(|kind| kind.to_lowercase()).collect(),
        server_dry_run: args.dry_run,
        ..save_request(
            non_empty(&args.namespace),
            cluster_choice(&non_empty(&args.cluster), None),
            timeout(args.timeout.as_deref())?,
        )
    };
    let otherwise = "use another backup; nothing was restored";
    let Backup { manifest, objects } = args.opening.read(&args.file, otherwise, session)?;
    let connect = |kube: &KubeFlags| {
        settings::management_cluster_hiding_warnings(kube, &args.server.pace, ApiWarnings::Known, session)
    };
    let source = args.source.kube().as_ref().map(connect).transpose()?;
    let target = connect(&args.server.kube)?;
    summarize(&manifest, session.messages());
    let command = args.command(session);
    let run = RestoreRun {
        name: args.file.display().to_string(),
        objects: &objects,
        request: &request,
        options: RestoreOptions { paused: args.paused, source: source.as_ref(), command: &command },
        format,
        dry_run: args.dry_run,
        progress: args.server.pace.progress,
    };
    let Some(done) = run.run(&target, &args.lease, session)? else {
        return Ok(());
    };
    if args.paused
        && let Some(hint) = resume_hint(&done.restored.paused)
    {
        session.cluster_events(args.server.pace.progress).show_closing_text(hint);
    }
    let report = report(&run.name, &target, done);
    session.print(format, &report, |_, _| String::new())
}

fn report(
    file: &str,
    target: &ManagementCluster,
    RestoreResult { restored, warnings }: RestoreResult,
) -> RestoreReport {
    RestoreReport {
        file: file.to_owned(),
        target: target.server().address().to_owned(),
        created: restored.created,
        kept: restored.kept,
        paused: restored.paused,
        warnings,
    }
}

/// Returns the command that resumes the first paused Cluster.
fn resume_hint(paused: &[ObjectKey]) -> Option<String> {
    let cluster = paused.iter().find(|key| key.kind == "Cluster")?;
    Some(format!(
        "resume a Cluster with `kubectl patch cluster {} -n {} --type merge -p '{{\"spec\":{{\"paused\":null}}}}'`",
        cluster.name, cluster.namespace
    ))
}
