//! Features of components that creation and update have in common.

use crate::verbs::catalog::template_flags::CommandVariables;

/// The flags of features that a new component does not have by default.
#[derive(clap::Args)]
pub(super) struct FeatureFlags {
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

    /// Also merge patch updates of v0 versions
    #[arg(long, overrides_with = "no_automerge_patch_v0")]
    automerge_patch_v0: bool,

    #[arg(long, hide = true, overrides_with = "automerge_patch_v0")]
    no_automerge_patch_v0: bool,
}

/// The variable of the template that selects patch updates of v0 versions.
pub(super) const AUTOMERGE_PATCH_V0: &str = "automerge_patch_v0";

impl FeatureFlags {
    /// Returns the variables of the template with the choice of the user.
    pub(super) fn choices(&self, variables: &CommandVariables<'_>) -> [(&'static str, Option<bool>); 3] {
        let v0 = (self.automerge_patch_v0, self.no_automerge_patch_v0);
        [
            ("add_lib", variables.choice((self.lib, self.no_lib), "LIB")),
            ("add_pp", variables.choice((self.pp, self.no_pp), "PP")),
            (AUTOMERGE_PATCH_V0, variables.choice(v0, "AUTOMERGE_PATCH_V0")),
        ]
    }
}
