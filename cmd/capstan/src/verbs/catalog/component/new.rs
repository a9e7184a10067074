use std::collections::{BTreeMap, BTreeSet};

use catalog::scaffold::DependencyKind;

use crate::verbs::catalog::template_flags::{CommandVariables, TemplateFlags, letter, prefix};
use crate::{Failure, session::Session};

const AUTOMERGE: &str = "Automatic merges of updates";

/// Create a component from a template
///
/// Renders a template of cookiecutter in a Git repository, and commits its files as the first commit of a new repository,
/// like `commodore component new`. Hooks of the template are programs and do not run.
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

    /// Leave out the matrix of test cases
    #[arg(long, overrides_with = "matrix_tests")]
    no_matrix_tests: bool,

    #[arg(long, hide = true, overrides_with = "no_matrix_tests")]
    matrix_tests: bool,

    /// Do not merge patch updates
    #[arg(long, overrides_with = "automerge_patch", help_heading = AUTOMERGE)]
    no_automerge_patch: bool,

    #[arg(long, hide = true, overrides_with = "no_automerge_patch")]
    automerge_patch: bool,

    /// Also merge patch updates of v0 versions
    #[arg(long, overrides_with = "no_automerge_patch_v0", help_heading = AUTOMERGE)]
    automerge_patch_v0: bool,

    #[arg(long, hide = true, overrides_with = "automerge_patch_v0")]
    no_automerge_patch_v0: bool,

    /// Do not release merged updates
    #[arg(long, overrides_with = "autorelease", help_heading = AUTOMERGE)]
    no_autorelease: bool,

    #[arg(long, hide = true, overrides_with = "no_autorelease")]
    autorelease: bool,

    #[command(flatten)]
    patterns: AutomergeFlags,
}

/// The dependencies whose updates are merged, or not merged, by name or by regular expression.
#[derive(clap::Args)]
struct AutomergeFlags {
    /// Dependency without merges of patch updates; repeatable
    #[arg(long = "add-automerge-patch-block-depname", value_name = "NAME", help_heading = AUTOMERGE)]
    patch_block_depname: Vec<String>,

    /// Regular expression of such dependencies; repeatable
    #[arg(long = "add-automerge-patch-block-pattern", value_name = "PATTERN", help_heading = AUTOMERGE)]
    patch_block_pattern: Vec<String>,

    /// Dependency at v0 with merges of patch updates; repeatable
    #[arg(long = "add-automerge-patch-v0-allow-depname", value_name = "NAME", help_heading = AUTOMERGE)]
    patch_v0_allow_depname: Vec<String>,

    /// Regular expression of such dependencies; repeatable
    #[arg(long = "add-automerge-patch-v0-allow-pattern", value_name = "PATTERN", help_heading = AUTOMERGE)]
    patch_v0_allow_pattern: Vec<String>,

    /// Dependency with merges of minor updates; repeatable
    #[arg(long = "add-automerge-minor-allow-depname", value_name = "NAME", help_heading = AUTOMERGE)]
    minor_allow_depname: Vec<String>,

    /// Regular expression of such dependencies; repeatable
    #[arg(long = "add-automerge-minor-allow-pattern", value_name = "PATTERN", help_heading = AUTOMERGE)]
    minor_allow_pattern: Vec<String>,
}

pub(super) fn run(args: &New, session: &mut Session) -> Result<(), Failure> {
    let values = args.values(session);
    args.template.create(DependencyKind::Component, &args.slug, values, session)
}

impl New {
    /// Returns the values of the variables that only templates of components have.
    fn values(&self, session: &Session) -> BTreeMap<String, String> {
        let variables = CommandVariables::new(prefix(DependencyKind::Component), session);
        let switch = |flags, name, default| variables.switch(flags, name, default);
        let v0 = switch((self.automerge_patch_v0, self.no_automerge_patch_v0), "AUTOMERGE_PATCH_V0", false);
        let patch = switch((self.automerge_patch, self.no_automerge_patch), "AUTOMERGE_PATCH", true);
        let has_matrix = switch((self.matrix_tests, self.no_matrix_tests), "MATRIX_TESTS", true);
        let has_cases = self.template.test_cases(&variables).len() > 1;
        let list = |names: &[String], patterns: &[String], variable: &str| {
            let names = variables.list(names, &format!("{variable}_DEPNAME"));
            let patterns = variables.list(patterns, &format!("{variable}_PATTERN"));
            let all = names.iter().map(|name| format!("^{name}$")).chain(patterns);
            all.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(";")
        };
        let p = &self.patterns;
        [
            ("add_lib", letter(switch((self.lib, self.no_lib), "LIB", false))),
            ("add_pp", letter(switch((self.pp, self.no_pp), "PP", false))),
            ("add_matrix", letter(has_matrix || has_cases)),
            ("automerge_patch", letter(patch || v0)),
            ("automerge_patch_v0", letter(v0)),
            ("auto_release", letter(switch((self.autorelease, self.no_autorelease), "AUTORELEASE", true))),
            (
                "automerge_patch_regexp_blocklist",
                list(&p.patch_block_depname, &p.patch_block_pattern, "ADD_AUTOMERGE_PATCH_BLOCK"),
            ),
            (
                "automerge_patch_v0_regexp_allowlist",
                list(&p.patch_v0_allow_depname, &p.patch_v0_allow_pattern, "ADD_AUTOMERGE_PATCH_V0_ALLOW"),
            ),
            (
                "automerge_minor_regexp_allowlist",
                list(&p.minor_allow_depname, &p.minor_allow_pattern, "ADD_AUTOMERGE_MINOR_ALLOW"),
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}
