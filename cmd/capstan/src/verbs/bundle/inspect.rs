use super::{open, report};
use crate::{Failure, session::Session, settings::OutputFormat};

/// Show what is in a bundle
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} bundle inspect lab.tar
  {bin} bundle inspect lab.tar -o json")]
pub(crate) struct Inspect {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(super) fn run(args: &Inspect, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let bundle = open(&args.file, session)?;
    session.print(format, &report::of(&args.file, &bundle), report::text)
}
