use catalog::scaffold::{DependencyKind, ListChange, ValueChanges};

use super::automerge::{AddedDependencies, RemovedDependencies};
use super::features::{AUTOMERGE_PATCH_V0, FeatureFlags};
use crate::verbs::catalog::template_flags::{CommandVariables, letter};
use crate::verbs::catalog::update_flags::UpdateFlags;
use crate::{Failure, session::Session};

/// Update a component from its template
///
/// Merges the changes of the template since the last update into the files of the component, and commits them, like
/// `commodore component update`, with its flags. A flag that adds a feature has a counterpart
/// `--no-…`. Flags such as `--add-automerge-minor-allow-depname NAME` and `--remove-…` select dependencies.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog component update component-nfs
  {bin} catalog component update . --lib --no-commit")]
pub(crate) struct Update {
    #[command(flatten)]
    flags: UpdateFlags,

    #[command(flatten)]
    features: FeatureFlags,

    /// Add the matrix of test cases
    #[arg(long, overrides_with = "no_matrix_tests")]
    matrix_tests: bool,

    #[arg(long, hide = true, overrides_with = "matrix_tests")]
    no_matrix_tests: bool,

    /// Merge patch updates
    #[arg(long, overrides_with = "no_automerge_patch")]
    automerge_patch: bool,

    #[arg(long, hide = true, overrides_with = "automerge_patch")]
    no_automerge_patch: bool,

    /// Release merged updates
    #[arg(long, overrides_with = "no_autorelease")]
    autorelease: bool,

    #[arg(long, hide = true, overrides_with = "autorelease")]
    no_autorelease: bool,

    #[command(flatten)]
    added: AddedDependencies,

    #[command(flatten)]
    removed: RemovedDependencies,
}

pub(super) fn run(args: &Update, session: &mut Session) -> Result<(), Failure> {
    let environment = session.environment().clone();
    let variables = CommandVariables::new("COMMODORE_COMPONENT_UPDATE_", &environment);
    args.flags.update(DependencyKind::Component, args.values(&variables), &variables, session)
}

impl Update {
    fn values(&self, variables: &CommandVariables<'_>) -> ValueChanges {
        let mut values = ValueChanges::default();
        let own = [
            ("add_matrix", (self.matrix_tests, self.no_matrix_tests), "MATRIX_TESTS"),
            ("automerge_patch", (self.automerge_patch, self.no_automerge_patch), "AUTOMERGE_PATCH"),
            ("auto_release", (self.autorelease, self.no_autorelease), "AUTORELEASE"),
        ];
        let own = own.map(|(name, flags, variable)| (name, variables.choice(flags, variable)));
        for (name, choice) in own.into_iter().chain(self.features.choices(variables)) {
            values.set.extend(choice.map(|is_on| (name.to_owned(), letter(is_on))));
        }
        if values.set.get(AUTOMERGE_PATCH_V0).is_some_and(|value| value == "y") {
            values.set.insert("automerge_patch".to_owned(), letter(true));
        }
        let added = self.added.patterns(variables).into_iter();
        values.lists = added
            .zip(self.removed.patterns(variables))
            .map(|((name, add), (_, remove))| ListChange { name, separator: ';', add, remove, sorted: true })
            .collect();
        values
    }
}
