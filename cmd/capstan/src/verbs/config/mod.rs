//! `config`: the list.

mod repositories;

use crate::{Failure, session::Session};

/// Show the configuration
#[derive(clap::Subcommand)]
pub(crate) enum Config {
    Repositories(repositories::Repositories),
}

impl Config {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Repositories(args) => repositories::run(&args, session),
        }
    }
}
