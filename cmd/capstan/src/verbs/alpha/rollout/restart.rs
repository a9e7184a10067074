use management::RolloutChange;

use super::change::{ChangeFlags, change_all};
use crate::{Failure, session::Session};

/// Replace all machines, one after the other, though nothing of them has changed
///
/// What is paused, or is to begin a rollout at a time to come, is refused.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} alpha rollout restart machinedeployment/demo-workers
  {bin} alpha rollout restart kcp/demo-control-plane md/demo-workers")]
pub(crate) struct Restart {
    #[command(flatten)]
    change: ChangeFlags,
}

pub(crate) fn run(args: &Restart, session: &mut Session) -> Result<(), Failure> {
    change_all(RolloutChange::Restart, &args.change, session)
}
