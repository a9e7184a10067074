//! `generate`: renders provider repositories and templates to objects, without a management cluster.

mod cluster;
pub(super) mod print;
mod provider;
mod yaml;

use crate::{Failure, session::Session};

/// Generate YAML from provider components, cluster templates and other templates
#[derive(clap::Subcommand)]
pub(crate) enum Generate {
    Cluster(Box<cluster::GenerateCluster>),
    Provider(Box<provider::GenerateProvider>),
    Yaml(yaml::GenerateYaml),
}

impl Generate {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Cluster(args) => cluster::run(&args, session),
            Self::Provider(args) => provider::run(&args, session),
            Self::Yaml(args) => yaml::run(&args, session),
        }
    }
}
