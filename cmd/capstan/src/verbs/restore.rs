use std::path::PathBuf;

use management::{Backup, MoveRequest};

use super::{
    backup::{sealing::OpenFlags, verify::tell},
    r#move::{
        flags::{choice, filled, namespace_map, saving_request, timeout},
        restoring::{self, How, Source},
    },
};
use crate::{
    Failure,
    events::ApiWarnings,
    session::Session,
    settings::{self, LeaseFlags, OutputFormat, ServerFlags},
};

/// Create on a management cluster what a backup holds
///
/// The file is read and verified whole before anything is asked of the cluster. What is there stays as it is; what is missing
/// is created, paused until all of it is there. A restore that was cut off is gone on with by the same command.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} restore clusters.tar.gz --dry-run
  {bin} restore clusters.tar.gz
  {bin} restore clusters.tar.gz --cluster blue --map-namespace team-a=tests
  {bin} restore clusters.tar.gz.age --identity key.txt")]
pub(crate) struct Restore {
    /// File to read, as `backup` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Restore what was saved of this namespace alone; may be given several times [default: all]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Vec<String>,

    /// Cluster to restore, as NAME or NAMESPACE/NAME; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,

    /// Restore objects of one namespace into another; may be given several times
    #[arg(long, value_name = "FROM=TO")]
    map_namespace: Vec<String>,

    /// Kind whose status is taken along, such as dockermachine; may be given several times
    #[arg(long, value_name = "KIND")]
    include_status: Vec<String>,

    /// Show what would be created, try each object on the cluster, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// For how long what may pass is tried again [default: 10m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    opening: OpenFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(crate) fn run(args: &Restore, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let request = MoveRequest {
        namespace_map: namespace_map(&args.map_namespace)?,
        include_status: filled(&args.include_status).iter().map(|kind| kind.to_lowercase()).collect(),
        thorough: args.dry_run,
        ..saving_request(
            filled(&args.namespace),
            choice(&filled(&args.cluster), None),
            timeout(args.timeout.as_deref())?,
        )
    };
    let else_do = "nothing was restored; take another backup";
    let Backup { manifest, objects } = args.opening.read(&args.file, else_do, session)?;
    let target = settings::management_cluster_hiding(
        &args.server.kube,
        &args.server.pace,
        ApiWarnings::Known,
        session,
    )?;
    tell(&manifest, session);
    let source = Source { name: args.file.display().to_string(), objects: &objects };
    let how = How { format, dry_run: args.dry_run, progress: args.server.pace.progress };
    restoring::run(&source, &target, &request, &how, &args.lease, session)
}
