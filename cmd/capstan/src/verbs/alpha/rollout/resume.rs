use management::RolloutChange;

use super::change::{ChangeFlags, change_all};
use crate::{Failure, session::Session};

/// Go on with a resource that was paused
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} alpha rollout resume machinedeployment/demo-workers
  {bin} alpha rollout resume kcp/demo-control-plane md/demo-workers")]
pub(crate) struct Resume {
    #[command(flatten)]
    change: ChangeFlags,
}

pub(crate) fn run(args: &Resume, session: &mut Session) -> Result<(), Failure> {
    change_all(RolloutChange::Resume, &args.change, session)
}
