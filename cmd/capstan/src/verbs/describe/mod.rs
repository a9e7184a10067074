//! `describe`: the subcommands.

mod cluster;
mod draw;
mod report;
mod watch;

pub(crate) use report::{part_condition, replica_counts};

use crate::{Failure, session::Session};

/// Show workload clusters
#[derive(clap::Subcommand)]
pub(crate) enum Describe {
    Cluster(Box<cluster::DescribeCluster>),
}

impl Describe {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Cluster(args) => cluster::run(&args, session),
        }
    }
}
