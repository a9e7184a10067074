use catalog::Step;

use super::working_dir_flag::WorkingDirFlag;
use crate::{Failure, session::Session};

/// Delete everything that a compilation creates, except for fetched dependencies
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog clean
  {bin} catalog clean -d work")]
pub(crate) struct Clean {
    #[command(flatten)]
    working_dir: WorkingDirFlag,
}

pub(super) fn run(args: &Clean, session: &mut Session) -> Result<(), Failure> {
    session.printer().write(format!("{}\n", Step::CleanWorkingTree))?;
    Ok(args.working_dir.folder(session.environment()).clean()?)
}
