//! `get`: the list.

mod kubeconfig;

use crate::{Failure, session::Session};

/// Get what a workload cluster is reached by
#[derive(clap::Subcommand)]
pub(crate) enum Get {
    Kubeconfig(Box<kubeconfig::Kubeconfig>),
}

impl Get {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Kubeconfig(args) => kubeconfig::run(&args, session),
        }
    }
}
