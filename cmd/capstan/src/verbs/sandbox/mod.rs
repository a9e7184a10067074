//! `sandbox`: the list.

mod background;
mod delete;
mod foreground;
mod kubeconfig;
mod list;
mod logs;
mod said;
mod start;
mod stop;

use crate::{Failure, session::Session};

pub(crate) use start::start_unless_running;

/// Run an embedded Kubernetes API server, for trying things and for tests
#[derive(clap::Subcommand)]
pub(crate) enum Sandbox {
    Start(Box<start::Start>),
    Stop(stop::Stop),
    List(list::List),
    Delete(delete::Delete),
    Kubeconfig(kubeconfig::Kubeconfig),
    Logs(logs::Logs),
}

impl Sandbox {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Start(args) => start::run(&args, session),
            Self::Stop(args) => stop::run(&args, session),
            Self::List(args) => list::run(&args, session),
            Self::Delete(args) => delete::run(&args, session),
            Self::Kubeconfig(args) => kubeconfig::run(&args, session),
            Self::Logs(args) => logs::run(&args, session),
        }
    }
}
