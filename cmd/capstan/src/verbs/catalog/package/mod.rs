//! `catalog package`: the work of the authors of packages.

mod compile;
mod new;
mod update;

use crate::{Failure, session::Session};

/// Create, update and compile packages
#[derive(clap::Subcommand)]
pub(crate) enum CatalogPackageVerb {
    Compile(Box<compile::Compile>),
    New(Box<new::New>),
    Update(Box<update::Update>),
}

impl CatalogPackageVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::New(args) => new::run(&args, session),
            Self::Update(args) => update::run(&args, session),
        }
    }
}
