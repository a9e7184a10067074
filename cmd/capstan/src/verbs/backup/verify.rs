use std::path::PathBuf;

use super::{report, sealing::OpenFlags};
use crate::{Failure, session::Session, settings::OutputFormat};

/// Verify a backup without a cluster
///
/// The command reads all of the file and checks every sum. The exit status is 0 if a restore can read all of it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} backup verify clusters.tar.gz
  {bin} backup verify clusters.tar.gz.age --identity key.txt
  {bin} backup verify clusters.tar.gz -o json")]
pub(super) struct Verify {
    /// File to read, as `backup` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    opening: OpenFlags,
}

pub(super) fn run(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let (index, lock) = args.opening.verify(&args.file, session)?;
    let backup = index.report(&args.file.display().to_string(), lock);
    report::summarize(&index.manifest, session);
    session.messages().status(format!("verified `{}`: {}", backup.file, report::amount(&backup)));
    session.printer().data(format.render(&backup, |_| String::new())?)
}
