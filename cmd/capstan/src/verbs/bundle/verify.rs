use super::open;
use crate::{Failure, session::Session};

/// Hold everything in a bundle against its digest, and its releases against its lock
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} bundle verify lab.tar")]
pub(crate) struct Verify {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,
}

pub(super) fn run(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let bundle = open(&args.file, session)?;
    for stray in bundle.verify()? {
        session.messages().warning(format!("nothing in `{}` names {stray}", args.file));
    }
    let count = bundle.entries().len();
    session
        .messages()
        .status(format!("`{}` is whole: {count} entries have the digests they should have", args.file));
    Ok(())
}
