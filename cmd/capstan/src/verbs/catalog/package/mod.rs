//! `catalog package`: the work of the authors of packages.

mod compile;
mod new;

use crate::{Failure, session::Session};

/// Create and compile packages
#[derive(clap::Subcommand)]
pub(crate) enum CatalogPackageVerb {
    Compile(Box<compile::Compile>),
    New(Box<new::New>),
}

impl CatalogPackageVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::New(args) => new::run(&args, session),
        }
    }
}
