//! `backup inspect` and `backup verify`: a look at a backup without a cluster.

use std::path::PathBuf;

use api::output::BackupReport;
use management::BackupManifest;

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
    #[command(flatten)]
    input: Input,
}

/// Verify a backup without a cluster
///
/// The command reads all of the file and checks every sum. The exit status is 0 if a restore can read all of it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} backup verify clusters.tar.gz
  {bin} backup verify clusters.tar.gz.age --identity key.txt
  {bin} backup verify clusters.tar.gz -o json")]
pub(super) struct Verify {
    #[command(flatten)]
    input: Input,
}

/// The arguments of both.
#[derive(clap::Args)]
struct Input {
    /// File to read, as `backup` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    #[command(flatten)]
    opening: OpenFlags,
}

impl Input {
    /// Verifies all of the backup.
    fn verify(&self, session: &Session) -> Result<(OutputFormat, BackupManifest, BackupReport), Failure> {
        let format = OutputFormat::parse(&self.output)?;
        let (index, lock) = self.opening.verify(&self.file, session)?;
        let backup = index.report(&self.file.display().to_string(), lock);
        Ok((format, index.manifest, backup))
    }
}

pub(super) fn inspect(args: &Inspect, session: &mut Session) -> Result<(), Failure> {
    let (format, _, backup) = args.input.verify(session)?;
    session.print(format, &backup, report::text)
}

pub(super) fn verify(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let (format, manifest, backup) = args.input.verify(session)?;
    report::summarize(&manifest, session);
    session.messages().status(format!("verified `{}`: {}", backup.file, report::amount(&backup)));
    session.print(format, &backup, |_, _| String::new())
}
