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
    /// Complete an interrupted upgrade
    ///
    /// The upgrade ends at the versions that it was started for.
    #[command(after_help = "Examples:
  {bin} upgrade resume --dry-run
  {bin} upgrade resume")]
    Resume(resume::Resume),
    /// Undo the last upgrade
    ///
    /// Restores the previous versions of the providers after a finished or an interrupted upgrade. The command refuses a
    /// rollback if objects are stored in a version that the previous CRDs do not have.
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
