//! `catalog package`: the work of the authors of packages.

mod new;

use crate::{Failure, session::Session};

/// Create packages
#[derive(clap::Subcommand)]
pub(crate) enum CatalogPackageVerb {
    New(Box<new::New>),
}

impl CatalogPackageVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::New(args) => new::run(&args, session),
        }
    }
}
