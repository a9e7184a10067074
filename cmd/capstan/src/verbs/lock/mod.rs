//! `lock`: what was reviewed, written down.

mod end;
mod gather;
mod report;
mod targets;

use self::{
    gather::{Gathered, gather_all},
    targets::targets,
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, OutputFormat},
    verbs::provider_flags::SeveralProviders,
};

/// Lock the version and every file of providers, or check what is locked
///
/// Writes capstan.lock beside the configuration file: of every provider its version, the digests of its files, and its
/// images. From then on every command reads these files and no others, and stops at one that has changed. Without a
/// lock and without flags, the providers of a first installation and those of the configuration are locked; what is
/// locked already changes with --update alone.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} lock --infrastructure aws
  {bin} lock --infrastructure aws --digests
  {bin} lock --check
  {bin} lock --update infrastructure-aws:v2.11.1
  {bin} lock --update all")]
pub(crate) struct Lock {
    #[command(flatten)]
    providers: SeveralProviders,

    /// Read all that is locked again, show what is different and write nothing; the exit status is 1 when anything is
    #[arg(long, conflicts_with_all = ["update", "file"], help_heading = HEADING)]
    check: bool,

    /// Lock a provider anew, by its label or as cert-manager: at this version, else at the one the configuration leads
    /// to; `all` for everything that is locked
    #[arg(long, value_name = "LABEL[:VERSION],…", value_delimiter = ',', help_heading = HEADING)]
    update: Vec<String>,

    /// Lock this file of infrastructure providers too, where the host has no list of files
    #[arg(long, value_name = "FILE,…", value_delimiter = ',', help_heading = HEADING)]
    file: Vec<String>,

    /// Ask registries for the digest of each image, and lock it; with --check, compare it with the locked one
    #[arg(long, help_heading = HEADING)]
    digests: bool,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = HEADING)]
    output: String,
}

const HEADING: &str = "Lock";

pub(crate) fn run(args: &Lock, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let path = settings::lock_file(session.globals(), session.environment())
        .ok_or_else(|| Failure::user("`--lock off` leaves no place for a lock"))?;
    let mut lock = settings::read_lock(&path)?.unwrap_or_default();
    if args.check && lock.providers.is_empty() {
        let message = format!("there is nothing locked in `{}`", path.display());
        return Err(Failure::new(Kind::Environment, message).hint("lock providers with `capstan lock`"));
    }
    let targets = targets(args, &lock, &*session.config()?)?;
    let Gathered { found, unknown } = gather_all(targets, &lock, args, session)?;
    for warning in found.iter().flat_map(|found| &found.warnings).chain(&unknown) {
        session.messages().warning(warning);
    }
    session.print(format, &report::report(&path, &found), report::text)?;
    if args.check {
        return end::checked(&found, unknown.len(), &path, session);
    }
    end::refuse_changes(&found)?;
    lock.providers.extend(found.into_iter().map(|found| (found.label, found.entry)));
    end::write(&lock, &path, session)
}
