//! `upgrade`: which versions there are to go to, going there, and back.

mod apply;
mod plan;
mod resume;

use crate::{Failure, session::Session};

pub(crate) use apply::Apply;

/// Upgrade the providers of a management cluster
#[derive(clap::Subcommand)]
pub(crate) enum Upgrade {
    Plan(plan::UpgradePlanFlags),
    Apply(Box<Apply>),
    Resume(resume::Resume),
    Rollback(resume::Rollback),
    Abort(resume::Abort),
}

impl Upgrade {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Plan(args) => plan::run(&args, session),
            Self::Apply(args) => args.run(session),
            Self::Resume(args) => resume::resume(&args, session),
            Self::Rollback(args) => resume::rollback(&args, session),
            Self::Abort(args) => resume::abort(&args, session),
        }
    }
}
