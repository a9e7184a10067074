use catalog::scaffold::DependencyKind;

use crate::verbs::catalog::sync_flags::SyncFlags;
use crate::{Failure, session::Session};

/// Update packages on GitHub from their templates
///
/// Merges the changes of the template into each repository of a list, and creates or updates a pull request, like
/// `commodore package sync`. The token needs the permission `public_repo`. A failure does not stop the others.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog package sync packages.yaml --dry-run
  {bin} catalog package sync packages.yaml --filter 'team/.*'")]
pub(crate) struct Sync {
    #[command(flatten)]
    flags: SyncFlags,
}

pub(super) fn run(args: &Sync, session: &mut Session) -> Result<(), Failure> {
    args.flags.sync(DependencyKind::Package, session)
}
