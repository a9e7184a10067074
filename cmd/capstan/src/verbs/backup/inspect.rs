use std::path::PathBuf;

use super::{report, sealing::OpenFlags};
use crate::{Failure, session::Session, settings::OutputFormat};

/// Show what is in a backup
///
/// The command reads and verifies all of the file, and needs no cluster. It shows when and from which cluster the backup was
/// made, the Clusters with their versions and machines, the objects by kind, the providers, and the objects that were left out.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} backup inspect clusters.tar.gz
  {bin} backup inspect clusters.tar.gz.age --identity key.txt -o json")]
pub(super) struct Inspect {
    /// File to read, as `backup` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    opening: OpenFlags,
}

pub(super) fn run(args: &Inspect, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let (index, lock) = args.opening.verify(&args.file, session)?;
    let backup = index.report(&args.file.display().to_string(), lock);
    session.printer().data(format.render(&backup, report::text)?)
}
