//! `sandbox`: the subcommands.

mod background;
mod components;
mod foreground;
mod logs;
mod manage;
mod start;

use crate::{Failure, session::Session};

pub(crate) use start::start_unless_running;

/// Run embedded Kubernetes API servers, for experiments and tests
#[derive(clap::Subcommand)]
pub(crate) enum Sandbox {
    Start(Box<start::Start>),
    Stop(manage::Stop),
    List(manage::List),
    Delete(manage::Delete),
    Kubeconfig(manage::Kubeconfig),
    Logs(logs::Logs),
}

impl Sandbox {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Start(args) => start::run(&args, session),
            Self::Stop(args) => manage::stop_one(&args, session),
            Self::List(args) => manage::list(&args, session),
            Self::Delete(args) => manage::delete(&args, session),
            Self::Kubeconfig(args) => manage::kubeconfig(&args, session),
            Self::Logs(args) => logs::run(&args, session),
        }
    }
}
