use std::collections::{BTreeMap, BTreeSet};

use catalog::scaffold::DependencyKind;

use super::automerge::AddedDependencies;
use super::features::{AUTOMERGE_PATCH_V0, FeatureFlags};
use crate::verbs::catalog::template_flags::{CommandVariables, TemplateFlags, letter, prefix};
use crate::{Failure, session::Session};

/// Create a component from a template
///
/// Commits the files of a template of cookiecutter as the first commit of a new repository. The flags are those of
/// `commodore component new`; six more, such as `--add-automerge-minor-allow-depname NAME`, select dependencies by name or
/// `pattern`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog component new cert-manager --lib
  {bin} catalog component new nfs --output-dir . --template-url ./template")]
pub(crate) struct New {
    /// Name of the component in hierarchies, such as cert-manager
    #[arg(value_name = "SLUG")]
    slug: String,

    #[command(flatten)]
    template: TemplateFlags,

    #[command(flatten)]
    features: FeatureFlags,

    /// Leave out the matrix of test cases
    #[arg(long, overrides_with = "matrix_tests")]
    no_matrix_tests: bool,

    #[arg(long, hide = true, overrides_with = "no_matrix_tests")]
    matrix_tests: bool,

    /// Do not merge patch updates
    #[arg(long, overrides_with = "automerge_patch")]
    no_automerge_patch: bool,

    #[arg(long, hide = true, overrides_with = "no_automerge_patch")]
    automerge_patch: bool,

    /// Do not release merged updates
    #[arg(long, overrides_with = "autorelease")]
    no_autorelease: bool,

    #[arg(long, hide = true, overrides_with = "no_autorelease")]
    autorelease: bool,

    #[command(flatten)]
    patterns: AddedDependencies,
}

pub(super) fn run(args: &New, session: &mut Session) -> Result<(), Failure> {
    let values = args.values(session);
    args.template.create(DependencyKind::Component, &args.slug, values, session)
}

impl New {
    /// Returns the values of the variables that only templates of components have.
    fn values(&self, session: &Session) -> BTreeMap<String, String> {
        let variables = CommandVariables::new(prefix(DependencyKind::Component), session.environment());
        let switch = |flags, name, default| variables.switch(flags, name, default);
        let features =
            self.features.choices(&variables).map(|(name, choice)| (name, choice.unwrap_or(false)));
        let v0 = features.contains(&(AUTOMERGE_PATCH_V0, true));
        let patch = switch((self.automerge_patch, self.no_automerge_patch), "AUTOMERGE_PATCH", true);
        let has_matrix = switch((self.matrix_tests, self.no_matrix_tests), "MATRIX_TESTS", true);
        let has_cases = self.template.test_cases(&variables).len() > 1;
        let mut values: BTreeMap<String, String> = [
            ("add_matrix", letter(has_matrix || has_cases)),
            ("automerge_patch", letter(patch || v0)),
            ("auto_release", letter(switch((self.autorelease, self.no_autorelease), "AUTORELEASE", true))),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        values.extend(features.map(|(name, is_on)| (name.to_owned(), letter(is_on))));
        for (name, patterns) in self.patterns.patterns(&variables) {
            let patterns: BTreeSet<String> = patterns.into_iter().collect();
            values.insert(name.to_owned(), patterns.into_iter().collect::<Vec<_>>().join(";"));
        }
        values
    }
}
