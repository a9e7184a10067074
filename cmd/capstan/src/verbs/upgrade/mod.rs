//! `upgrade`: lists available versions, upgrades, resumes and rolls back.

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
    /// Go on with an upgrade that was begun
    ///
    /// It ends at the versions it was begun for.
    #[command(after_help = "Examples:
  {bin} upgrade resume --dry-run
  {bin} upgrade resume")]
    Resume(resume::Resume),
    /// Go back to what was there before the last upgrade
    ///
    /// Works for one that is finished and for one that is not, as long as no object is stored in a version that the
    /// older definitions do not have.
    #[command(after_help = "Examples:
  {bin} upgrade rollback --diff
  {bin} upgrade rollback")]
    Rollback(resume::ResumeFlags),
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
