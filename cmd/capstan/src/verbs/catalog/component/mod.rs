//! `catalog component`: the work of the authors of components.

mod automerge;
mod compile;
mod delete;
mod features;
mod new;
mod update;

use catalog::scaffold::DependencyKind;

use super::sync_flags::SyncFlags;
use crate::{Failure, session::Session};

/// Create, update, compile and delete components
#[derive(clap::Subcommand)]
pub(crate) enum CatalogComponentVerb {
    Compile(Box<compile::Compile>),
    New(Box<new::New>),
    Update(Box<update::Update>),
    /// Update components on GitHub from their templates
    ///
    /// Merges the changes of the template into each repository of a list, and creates or updates a pull request, like
    /// `commodore component sync`. The token needs the permission `public_repo`. A failure does not stop the others.
    #[command(after_help = "Examples:
  {bin} catalog component sync components.yaml --dry-run
  {bin} catalog component sync components.yaml --filter 'team/.*'")]
    Sync(Box<SyncFlags>),
    Delete(Box<delete::Delete>),
}

impl CatalogComponentVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::New(args) => new::run(&args, session),
            Self::Update(args) => update::run(&args, session),
            Self::Sync(flags) => flags.sync(DependencyKind::Component, session),
            Self::Delete(args) => delete::run(&args, session),
        }
    }
}
