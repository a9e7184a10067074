//! `cache`: what is kept on this machine of what was fetched.

mod info;
mod prune;
mod store;
mod verify;

use crate::{Failure, session::Session};

/// Look at what is kept of fetched files, and make room
#[derive(clap::Subcommand)]
pub(crate) enum Cache {
    Info(info::Info),
    Prune(prune::PruneArgs),
    Verify(verify::Verify),
}

impl Cache {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Info(args) => info::run(&args, session),
            Self::Prune(args) => prune::run(&args, session),
            Self::Verify(args) => verify::run(&args, session),
        }
    }
}
