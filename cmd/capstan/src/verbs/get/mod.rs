//! `get`: the subcommands.

mod clusters;
mod kubeconfig;

use crate::{Failure, session::Session};

/// List workload clusters and get their kubeconfigs
#[derive(clap::Subcommand)]
pub(crate) enum Get {
    Clusters(clusters::Clusters),
    Kubeconfig(Box<kubeconfig::Kubeconfig>),
}

impl Get {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Clusters(args) => clusters::run(&args, session),
            Self::Kubeconfig(args) => kubeconfig::run(&args, session),
        }
    }
}
