use std::{
    collections::BTreeSet,
    fs,
    io::{BufWriter, IntoInnerError},
    path::{Path, PathBuf},
};

use management::{
    ArchiveOutput, ArchiveWriter, BackupAbout, ClusterChoice, MovePlan, SaveInto, SaveRest, SavedObject, Seal,
};
use tempfile::NamedTempFile;

use super::{sealing::SealFlags, verify};
use crate::verbs::r#move::{
    carry_out::warn,
    flags::{choice, filled, namespaces, saving_request, timeout},
    saving::{self, Done, Saving},
};
use crate::{
    Failure,
    events::ApiWarnings,
    failure::Kind,
    session::Session,
    settings::{self, LeaseFlags, OutputFormat, ServerFlags},
};

/// Write Clusters and all that belongs to them into one file
///
/// What is in it is what a move would take along, with the versions of the providers and a check sum of every object. The
/// file is whole or not there at all, and only its user may read it. It holds Secrets: encrypt it with --encrypt-to, to public
/// keys of age, or with --passphrase. What is being deleted is left out, what is not ready is taken along, both with a word.
///
/// Nothing is written to the cluster. Objects are then of different moments; with --pause Clusters rest while they are read,
/// as for a move.
#[derive(clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  {bin} backup clusters.tar.gz
  {bin} backup clusters.tar.gz -n team-a -n team-b --pause
  {bin} backup blue.tar.gz --cluster blue
  {bin} backup clusters.tar.gz.age --encrypt-to-file recipients.txt
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
    Verify(verify::Verify),
}

/// The flags of a backup itself.
#[derive(clap::Args)]
struct BackupFlags {
    /// File to write
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,

    /// Namespace to save; may be given several times [default: that of the context, else default]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Vec<String>,

    /// Cluster to save, as NAME or NAMESPACE/NAME; may be given several times [default: all of the namespace]
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,

    /// Save the Clusters with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "cluster")]
    selector: Option<String>,

    /// Pause Clusters while they are read, so that all objects are of one moment
    #[arg(long)]
    pause: bool,

    /// Show what would be saved, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// How long to wait, in all, for what holds Clusters up that are to be paused [default: 10m]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    sealing: SealFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(crate) fn run(args: &Backup, session: &mut Session) -> Result<(), Failure> {
    match &args.verb {
        Some(BackupVerb::Verify(args)) => verify::run(args, session),
        None => back_up(&args.flags, session),
    }
}

fn back_up(args: &BackupFlags, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let how = if args.pause { SaveRest::Paused } else { SaveRest::AsItIs };
    let namespaces = namespaces(&args.namespace, &args.server.kube, session);
    let clusters: ClusterChoice = choice(&filled(&args.cluster), args.selector.as_deref());
    let request = saving_request(namespaces, clusters, timeout(args.timeout.as_deref())?);
    let file = args.file.as_deref().ok_or_else(|| Failure::user("no file to write is named"))?;
    check(file)?;
    // Whoever has to be asked is asked before anything is begun.
    let seal = if args.dry_run { None } else { args.sealing.seal(session)? };
    let source = settings::management_cluster_hiding(
        &args.server.kube,
        &args.server.pace,
        ApiWarnings::Known,
        session,
    )?;
    let saving = Saving { source: &source, request: &request, how, into: SaveInto::Archive, format };
    let shown = file.display().to_string();
    if args.dry_run {
        let plan = plan(&saving, args, session)?;
        return saving.show(&plan, &shown, session);
    }
    let saved = match how {
        // Nothing is written to the cluster.
        SaveRest::AsItIs => write(&saving, plan(&saving, args, session)?, file, seal.as_ref(), session)?,
        SaveRest::Paused => args.lease.hold("backup --pause", &[&source], session, |clusters, session| {
            let saving = Saving { source: &clusters[0], ..saving };
            write(&saving, plan(&saving, args, session)?, file, seal.as_ref(), session)
        })?,
    };
    let sealed = match &seal {
        None => "",
        Some(Seal::Recipients(_)) => ", encrypted to its recipients",
        Some(Seal::Passphrase(_)) => ", encrypted with a passphrase",
    };
    let events = session.cluster_events(args.server.pace.progress);
    events.end(format!("saved {} to `{shown}`{sealed}", saving::objects(saved.objects.len())));
    saving.report(&saved, session)
}

fn plan(saving: &Saving<'_>, args: &BackupFlags, session: &Session) -> Result<MovePlan, Failure> {
    let plan = saving.plan(session)?;
    warn(&plan, &session.cluster_events(args.server.pace.progress));
    Ok(plan)
}

/// Writes the file beside its place, and gives it its name when it is whole and on the disk.
fn write(
    saving: &Saving<'_>,
    plan: MovePlan,
    path: &Path,
    seal: Option<&Seal>,
    session: &Session,
) -> Result<Done, Failure> {
    let providers = plan.discovered.inventory.providers.clone();
    let about = about(saving.source, &saving.request.namespaces, &providers, saving.how, session)?;
    let about = BackupAbout { notes: plan.unready(), ..about };
    let failed = |error: &(dyn std::error::Error + 'static)| {
        Failure::new(Kind::Environment, format!("cannot write `{}`", path.display())).because(error)
    };
    let file = beside(path).map_err(|error| failed(&error))?;
    let out = ArchiveOutput::new(BufWriter::new(file), seal).map_err(|error| failed(&error))?;
    let mut archive = ArchiveWriter::new(out);
    let mut keep = |object: SavedObject| archive.add(&object);
    let again = "`capstan move --abort --to-directory .` resumes them";
    let saved = saving.carry_out(plan, &mut keep, again, session)?;
    let out = archive.finish(about, saved.left_out.clone()).and_then(ArchiveOutput::finish);
    let file = out.and_then(|out| out.into_inner().map_err(IntoInnerError::into_error));
    let file = file.map_err(|error| failed(&error))?;
    file.as_file().sync_all().map_err(|error| failed(&error))?;
    file.persist(path).map_err(|error| failed(&error))?;
    Ok(saved)
}

fn about(
    source: &management::ManagementCluster,
    namespaces: &BTreeSet<String>,
    providers: &[provider::InstalledProvider],
    how: SaveRest,
    session: &Session,
) -> Result<BackupAbout, Failure> {
    session.block_on(BackupAbout::look(source, namespaces, providers, how == SaveRest::Paused))
}

/// What is there already is written anew only when it is a file.
fn check(path: &Path) -> Result<(), Failure> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(Failure::user(format!("`{}` is no file", path.display()))),
        _ => Ok(()),
    }
}

/// A private file in the same folder, which goes when it is not given its name.
fn beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    NamedTempFile::with_prefix_in(".capstan-backup-", folder)
}
