use std::{
    io::{BufWriter, IntoInnerError},
    path::{Path, PathBuf},
};

use api::output::BackupReport;
use inventory::ManagementCluster;
use mover::{
    ArchiveOutput, ArchiveWriter, BackupOrigin, ClusterChoice, Encryption, MovePlan, MoveRequest,
    RequiredKey, SaveFormat, SaveMode, SavedObject,
};

use super::{
    destination::{BackupNamePrefix, Destination},
    encryption::EncryptionFlags,
    inspect,
};
use crate::{
    Failure,
    events::ApiWarnings,
    session::Session,
    settings::{self, LeaseFlags, OutputFlag, ServerFlags},
    verbs::r#move::{
        execute::warn,
        flags::{cluster_choice, non_empty, save_request, timeout},
        save::SaveRun,
    },
};

/// Back up Clusters and their objects to one file
///
/// The file contains the objects that a move would transfer, with Secrets: encrypt it with `--encrypt-to` or `--passphrase`.
/// The command writes nothing to the cluster, so objects may change while it reads them. `--pause` pauses the Clusters during
/// the backup.
#[derive(clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  {bin} backup clusters.tar.gz
  {bin} backup backups/ --keep 14 --encrypt-to-file recipients.txt
  {bin} backup teams.tar.gz -n team-a -n team-b --pause
  {bin} backup inspect clusters.tar.gz
  {bin} backup verify clusters.tar.gz.age --identity key.txt"
)]
pub(crate) struct Backup {
    #[command(subcommand)]
    verb: Option<BackupVerb>,

    #[command(flatten)]
    flags: BackupFlags,
}

#[derive(clap::Subcommand)]
enum BackupVerb {
    /// Show the contents of a backup
    ///
    /// The command verifies the complete file and needs no cluster. It shows the origin, the Clusters, the objects by kind, the
    /// providers, and the skipped objects.
    #[command(after_help = "Examples:
  {bin} backup inspect clusters.tar.gz
  {bin} backup inspect clusters.tar.gz.age --identity key.txt -o json")]
    Inspect(inspect::InputFlags),

    /// Verify a backup without a cluster
    ///
    /// The command verifies the check sum of every object. The exit status is 0 if a restore can read the complete file.
    #[command(after_help = "Examples:
  {bin} backup verify clusters.tar.gz
  {bin} backup verify clusters.tar.gz.age --identity key.txt
  {bin} backup verify clusters.tar.gz -o json")]
    Verify(inspect::InputFlags),
}

/// The flags of a backup itself.
#[derive(clap::Args)]
struct BackupFlags {
    /// File to write, or folder for a new file
    #[arg(value_name = "FILE|FOLDER/", required = true)]
    file: Option<PathBuf>,

    /// Replace an existing file after success
    #[arg(long)]
    force: bool,

    /// Keep the N newest of this cluster and scope
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,

    /// Back up all namespaces, which is the default
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,

    /// Namespace to back up; repeatable
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Vec<String>,

    /// Cluster to back up, NAME or NAMESPACE/NAME
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,

    /// Back up only Clusters with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "cluster")]
    selector: Option<String>,

    /// Pause the Clusters for a consistent backup
    #[arg(long)]
    pause: bool,

    /// Show the objects to back up, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Time to wait for the pause [default: 10m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    sealing: EncryptionFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

struct BackupTarget<'a> {
    destination: &'a Destination,
    seal: Option<&'a Encryption>,
    name_prefix: BackupNamePrefix,
}

pub(crate) fn run(args: &Backup, session: &mut Session) -> Result<(), Failure> {
    match &args.verb {
        Some(BackupVerb::Inspect(args)) => inspect::inspect(args, session),
        Some(BackupVerb::Verify(args)) => inspect::verify(args, session),
        None => create_backup(&args.flags, session),
    }
}

fn create_backup(args: &BackupFlags, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let how = if args.pause { SaveMode::Paused } else { SaveMode::Live };
    let clusters: ClusterChoice = cluster_choice(&non_empty(&args.cluster), args.selector.as_deref());
    let request = save_request(non_empty(&args.namespace), clusters, timeout(args.timeout.as_deref())?);
    let file = args.file.as_deref().ok_or_else(|| Failure::user("the backup file is missing"))?;
    check_subcommand(file)?;
    let keep = args.keep.map(|keep| usize::try_from(keep).unwrap_or(usize::MAX));
    let destination = Destination::new(file, args.force, keep)?;
    // Prompts come before any other work.
    let seal = if args.dry_run { None } else { args.sealing.seal(session)? };
    let source = settings::management_cluster_hiding_warnings(
        &args.server.kube,
        &args.server.pace,
        ApiWarnings::Known,
        session,
    )?;
    let saving = SaveRun { source: &source, request: &request, how, into: SaveFormat::Archive, format };
    if args.dry_run {
        let plan = plan(&saving, args, session)?;
        return saving.show(&plan, &file.display().to_string(), session);
    }
    let stem = name_prefix(&source, &request, args, session)?;
    let writing = BackupTarget { destination: &destination, seal: seal.as_ref(), name_prefix: stem };
    let mut backup = match how {
        // This mode writes nothing to the cluster.
        SaveMode::Live => write(&saving, plan(&saving, args, session)?, &writing, session)?,
        SaveMode::Paused => args.lease.hold("backup --pause", &[&source], session, |clusters, session| {
            let saving = SaveRun { source: &clusters[0], ..saving };
            write(&saving, plan(&saving, args, session)?, &writing, session)
        })?,
    };
    let removed = destination.prune(backup.file.as_ref(), &writing.name_prefix)?;
    backup.removed = removed.iter().map(|path| path.display().to_string()).collect();
    session.show_cluster_result(args.server.pace.progress, result_text(&backup, seal.as_ref()));
    session.print(format, &backup, |_, _| String::new())
}

/// Fails for a new file whose name is probably a mistyped subcommand.
fn check_subcommand(file: &Path) -> Result<(), Failure> {
    let name = file.to_str().filter(|name| !name.contains(['.', '/', '\\']) && !file.exists());
    let Some((name, similar)) = name
        .and_then(|name| Some((name, api::similar_names(name, ["inspect", "verify"]).into_iter().next()?)))
    else {
        return Ok(());
    };
    Err(Failure::user(format!("unknown subcommand `backup {name}`")).hint(format!(
        "did you mean `capstan backup {similar}`? To write a backup to this file, use `./{name}`"
    )))
}

/// Returns a text such as ``saved 8 objects of 1 Cluster to `a.tar.gz` ``.
fn result_text(backup: &BackupReport, seal: Option<&Encryption>) -> String {
    let sealed = match seal {
        None => "",
        Some(Encryption::Recipients(_)) => ", encrypted to public keys",
        Some(Encryption::Passphrase(_)) => ", encrypted with a passphrase",
    };
    let removed = match backup.removed.len() {
        0 => String::new(),
        1 => "; removed 1 older backup".to_owned(),
        several => format!("; removed {several} older backups"),
    };
    format!("saved {} to `{}`{sealed}{removed}", inspect::contents_summary(backup), backup.file)
}

fn name_prefix(
    source: &ManagementCluster,
    scope: &MoveRequest,
    args: &BackupFlags,
    session: &Session,
) -> Result<BackupNamePrefix, Failure> {
    let kube = &args.server.kube;
    // A pod has no context.
    let context = || kube.context(session.environment()).ok().map(|context| context.name);
    let context = kube.sandbox.clone().or_else(context);
    Ok(BackupNamePrefix::new(context.as_deref(), &session.block_on(source.identity())?, scope))
}

fn plan(saving: &SaveRun<'_>, args: &BackupFlags, session: &Session) -> Result<MovePlan, Failure> {
    let plan = saving.plan(session)?;
    warn(&plan, &session.cluster_events(args.server.pace.progress));
    Ok(plan)
}

/// Writes the backup next to its destination. Renames the file after it is complete and on the disk.
fn write(
    saving: &SaveRun<'_>,
    plan: MovePlan,
    writing: &BackupTarget<'_>,
    session: &Session,
) -> Result<BackupReport, Failure> {
    let destination = writing.destination;
    let failed = |error: &(dyn std::error::Error + 'static)| Failure::io("write", destination.path(), error);
    let about = BackupOrigin::describe(saving.source, &plan, saving.how, env!("CARGO_PKG_VERSION"));
    let about = session.block_on(about)?;
    // Ctrl-C must not leave the temporary file.
    session.defer_interrupts();
    let file = destination.create_temporary().map_err(|error| failed(&error))?;
    let out = ArchiveOutput::new(BufWriter::new(file), writing.seal).map_err(|error| failed(&error))?;
    let mut archive = ArchiveWriter::new(out);
    let mut keep = |object: SavedObject| archive.add(&object);
    let saved = saving.execute(plan, &mut keep, "re-run the same command to resume them", session)?;
    saved.warn_disappeared(session.messages());
    let created = about.created.clone();
    let (out, index) = archive.finish(about, saved.left_out).map_err(|error| failed(&error))?;
    let file = out.finish().and_then(|out| out.into_inner().map_err(IntoInnerError::into_error));
    let file = file.map_err(|error| failed(&error))?;
    file.as_file().sync_all().map_err(|error| failed(&error))?;
    let path = destination.publish(file, &writing.name_prefix, &created, writing.seal.is_some())?;
    let lock = match writing.seal {
        None => RequiredKey::None,
        Some(Encryption::Recipients(_)) => RequiredKey::Recipients,
        Some(Encryption::Passphrase(_)) => RequiredKey::Passphrase,
    };
    Ok(index.report(&path.display().to_string(), lock))
}
