use std::path::PathBuf;

use catalog::{Step, WorkingFolder};

use crate::{Failure, session::Session};

/// Delete everything that a compilation creates, except for fetched dependencies
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog clean
  {bin} catalog clean -d work")]
pub(crate) struct Clean {
    /// Working folder [default: the current folder]
    #[arg(short = 'd', long, visible_alias = "directory", value_name = "FOLDER")]
    working_dir: Option<PathBuf>,
}

pub(super) fn run(args: &Clean, session: &mut Session) -> Result<(), Failure> {
    let root = session.environment().resolve(args.working_dir.clone().unwrap_or_default());
    session.printer().write(format!("{}\n", Step::CleanWorkingTree))?;
    Ok(WorkingFolder::new(root).clean()?)
}
