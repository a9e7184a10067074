//! `catalog package`: the work of the authors of packages.

mod compile;
mod new;

use catalog::scaffold::{DependencyKind, ValueChanges};

use super::{sync_flags::SyncFlags, template_flags::CommandVariables, update_flags::UpdateFlags};
use crate::{Failure, session::Session};

/// Create, update and compile packages
#[derive(clap::Subcommand)]
pub(crate) enum CatalogPackageVerb {
    Compile(Box<compile::Compile>),
    New(Box<new::New>),
    /// Update a package from its template
    ///
    /// Merges the changes of the template since the last update into the files of the package, and commits them, like
    /// `commodore package update`.
    #[command(after_help = "Examples:
  {bin} catalog package update package-monitoring
  {bin} catalog package update . -t openshift --no-commit")]
    Update(Box<UpdateFlags>),
    /// Update packages on GitHub from their templates
    ///
    /// Merges the changes of the template into each repository of a list, and creates or updates a pull request, like
    /// `commodore package sync`. The token needs the permission `public_repo`. A failure does not stop the others.
    #[command(after_help = "Examples:
  {bin} catalog package sync packages.yaml --dry-run
  {bin} catalog package sync packages.yaml --filter 'team/.*'")]
    Sync(Box<SyncFlags>),
}

impl CatalogPackageVerb {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::New(args) => new::run(&args, session),
            Self::Update(flags) => {
                let environment = session.environment().clone();
                let variables = CommandVariables::new("COMMODORE_PACKAGE_UPDATE_", &environment);
                flags.update(DependencyKind::Package, ValueChanges::default(), &variables, session)
            }
            Self::Sync(flags) => flags.sync(DependencyKind::Package, session),
        }
    }
}
