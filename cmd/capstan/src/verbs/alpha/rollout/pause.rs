use management::RolloutChange;

use super::change::{ChangeFlags, change_all};
use crate::{Failure, session::Session};

/// Do nothing more about changes of a resource until it is resumed
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} alpha rollout pause machinedeployment/demo-workers
  {bin} alpha rollout pause kcp/demo-control-plane md/demo-workers")]
pub(crate) struct Pause {
    #[command(flatten)]
    change: ChangeFlags,
}

pub(crate) fn run(args: &Pause, session: &mut Session) -> Result<(), Failure> {
    change_all(RolloutChange::Pause, &args.change, session)
}
