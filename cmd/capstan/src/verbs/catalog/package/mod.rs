//! `catalog package`: the work of the authors of packages.

mod compile;
mod new;
mod sync;
mod update;

use crate::{Failure, session::Session};

/// Create, update and compile packages
#[derive(clap::Subcommand)]
pub(crate) enum CatalogPackageVerb {
    Compile(Box<compile::Compile>),
    New(Box<new::New>),
    Update(Box<update::Update>),
    Sync(Box<sync::Sync>),
}

impl CatalogPackageVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::New(args) => new::run(&args, session),
            Self::Update(args) => update::run(&args, session),
            Self::Sync(args) => sync::run(&args, session),
        }
    }
}
