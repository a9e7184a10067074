//! `bundle`: packs releases, charts, settings and images into one file, for sites without access to other hosts.

mod create;
mod load;
mod read;
mod site;

use crate::{Failure, session::Session};

/// Transfer releases, charts, settings and images to an air-gapped site in one file
#[derive(clap::Subcommand)]
pub(crate) enum Bundle {
    Create(Box<create::Create>),

    /// Show the contents of a bundle
    #[command(after_help = "Examples:
  {bin} bundle inspect lab.tar
  {bin} bundle inspect lab.tar -o json")]
    Inspect(read::ReadFlags),

    /// Verify the digests of a bundle, and its releases and charts against its lock
    #[command(after_help = "Examples:
  {bin} bundle verify lab.tar
  {bin} bundle verify lab.tar -o json")]
    Verify(read::ReadFlags),

    Load(load::Load),
}

impl Bundle {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Create(args) => create::run(&args, session),
            Self::Inspect(args) => read::inspect(&args, session),
            Self::Verify(args) => read::verify(&args, session),
            Self::Load(args) => load::run(&args, session),
        }
    }
}
