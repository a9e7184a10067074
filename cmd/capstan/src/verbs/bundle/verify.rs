use api::output::BundleVerification;

use super::open;
use crate::{Failure, session::Session, settings::OutputFormat};

/// Hold everything in a bundle against its digest, and its releases against its lock
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} bundle verify lab.tar
  {bin} bundle verify lab.tar -o json")]
pub(crate) struct Verify {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(super) fn run(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let bundle = open(&args.file, session)?;
    let unreferenced: Vec<String> = bundle.verify()?.iter().map(ToString::to_string).collect();
    for stray in &unreferenced {
        session.messages().warning(format!("nothing in `{}` names {stray}", args.file));
    }
    let entries = bundle.entries().len();
    session
        .messages()
        .status(format!("`{}` is whole: {entries} entries have the digests they should have", args.file));
    let report = BundleVerification { file: args.file.clone(), entries, unreferenced };
    session.print(format, &report, |_, _| String::new())
}
