//! `catalog component`: the work of the authors of components.

mod automerge;
mod compile;
mod delete;
mod features;
mod new;
mod sync;
mod update;

use crate::{Failure, session::Session};

/// Create, update, compile and delete components
#[derive(clap::Subcommand)]
pub(crate) enum CatalogComponentVerb {
    Compile(Box<compile::Compile>),
    New(Box<new::New>),
    Update(Box<update::Update>),
    Sync(Box<sync::Sync>),
    Delete(Box<delete::Delete>),
}

impl CatalogComponentVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::New(args) => new::run(&args, session),
            Self::Update(args) => update::run(&args, session),
            Self::Sync(args) => sync::run(&args, session),
            Self::Delete(args) => delete::run(&args, session),
        }
    }
}
