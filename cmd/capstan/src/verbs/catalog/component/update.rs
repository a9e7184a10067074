use catalog::scaffold::{DependencyKind, ListChange, ValueChanges};

use super::automerge::{AutomergeFlags, RemovedAutomergeFlags};
use crate::verbs::catalog::template_flags::{CommandVariables, letter};
use crate::verbs::catalog::update_flags::UpdateFlags;
use crate::{Failure, session::Session};

/// Update a component from its template
///
/// Merges the changes of the template since the last update into the files of the component, and commits them, like
/// `commodore component update`, with its flags. Hooks of the template do not run. A flag that adds a feature has a
/// counterpart `--no-…`. Flags such as `--add-automerge-minor-allow-depname NAME` and `--remove-…` select dependencies.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog component update component-nfs
  {bin} catalog component update . --lib --no-commit")]
pub(crate) struct Update {
    #[command(flatten)]
    flags: UpdateFlags,

    /// Add a template library
    #[arg(long, overrides_with = "no_lib")]
    lib: bool,

    #[arg(long, hide = true, overrides_with = "lib")]
    no_lib: bool,

    /// Add filters of compiled files
    #[arg(long, overrides_with = "no_pp")]
    pp: bool,

    #[arg(long, hide = true, overrides_with = "pp")]
    no_pp: bool,

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

    /// Also merge patch updates of v0 versions
    #[arg(long, overrides_with = "no_automerge_patch_v0")]
    automerge_patch_v0: bool,

    #[arg(long, hide = true, overrides_with = "automerge_patch_v0")]
    no_automerge_patch_v0: bool,

    /// Release merged updates
    #[arg(long, overrides_with = "no_autorelease")]
    autorelease: bool,

    #[arg(long, hide = true, overrides_with = "autorelease")]
    no_autorelease: bool,

    #[command(flatten)]
    added: AutomergeFlags,

    #[command(flatten)]
    removed: RemovedAutomergeFlags,
}

pub(super) fn run(args: &Update, session: &mut Session) -> Result<(), Failure> {
    let environment = session.environment().clone();
    let variables = CommandVariables::new("COMMODORE_COMPONENT_UPDATE_", &environment);
    args.flags.update(DependencyKind::Component, args.values(&variables), &variables, session)
}

impl Update {
    fn values(&self, variables: &CommandVariables<'_>) -> ValueChanges {
        let mut values = ValueChanges::default();
        for (name, flags, variable) in [
            ("add_lib", (self.lib, self.no_lib), "LIB"),
            ("add_pp", (self.pp, self.no_pp), "PP"),
            ("add_matrix", (self.matrix_tests, self.no_matrix_tests), "MATRIX_TESTS"),
            ("automerge_patch", (self.automerge_patch, self.no_automerge_patch), "AUTOMERGE_PATCH"),
            (
                "automerge_patch_v0",
                (self.automerge_patch_v0, self.no_automerge_patch_v0),
                "AUTOMERGE_PATCH_V0",
            ),
            ("auto_release", (self.autorelease, self.no_autorelease), "AUTORELEASE"),
        ] {
            if let Some(is_on) = variables.choice(flags, variable) {
                values.set.insert(name.to_owned(), letter(is_on));
            }
        }
        if values.set.get("automerge_patch_v0").is_some_and(|value| value == "y") {
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
