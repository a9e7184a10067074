//! `alpha`: the list.

mod rollout;

use crate::{Failure, session::Session};

/// Use what may still change from release to release
#[derive(clap::Subcommand)]
pub(crate) enum Alpha {
    #[command(subcommand)]
    Rollout(rollout::Rollout),
}

impl Alpha {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Rollout(verb) => verb.run(session),
        }
    }
}
