use catalog::scaffold::{DependencyKind, ValueChanges};

use crate::verbs::catalog::{template_flags::CommandVariables, update_flags::UpdateFlags};
use crate::{Failure, session::Session};

/// Update a package from its template
///
/// Merges the changes of the template since the last update into the files of the package, and commits them, like
/// `commodore package update`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog package update package-monitoring
  {bin} catalog package update . -t openshift --no-commit")]
pub(crate) struct Update {
    #[command(flatten)]
    flags: UpdateFlags,
}

pub(super) fn run(args: &Update, session: &mut Session) -> Result<(), Failure> {
    let environment = session.environment().clone();
    let variables = CommandVariables::new("COMMODORE_PACKAGE_UPDATE_", &environment);
    args.flags.update(DependencyKind::Package, ValueChanges::default(), &variables, session)
}
