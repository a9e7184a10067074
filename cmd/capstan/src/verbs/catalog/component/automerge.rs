//! The flags for automatic merges of updates of dependencies. Help has no room for them; the description of the verbs names
//! them.

use crate::verbs::catalog::template_flags::CommandVariables;

/// The variables of templates with lists of patterns.
const BLOCKED: &str = "automerge_patch_regexp_blocklist";
const ALLOWED_V0: &str = "automerge_patch_v0_regexp_allowlist";
const ALLOWED_MINOR: &str = "automerge_minor_regexp_allowlist";

/// The dependencies whose updates are merged, or not merged, by name or by regular expression.
#[derive(clap::Args)]
pub(super) struct AutomergeFlags {
    #[arg(long = "add-automerge-patch-block-depname", value_name = "NAME", hide = true)]
    patch_block_depname: Vec<String>,

    #[arg(long = "add-automerge-patch-block-pattern", value_name = "PATTERN", hide = true)]
    patch_block_pattern: Vec<String>,

    #[arg(long = "add-automerge-patch-v0-allow-depname", value_name = "NAME", hide = true)]
    patch_v0_allow_depname: Vec<String>,

    #[arg(long = "add-automerge-patch-v0-allow-pattern", value_name = "PATTERN", hide = true)]
    patch_v0_allow_pattern: Vec<String>,

    #[arg(long = "add-automerge-minor-allow-depname", value_name = "NAME", hide = true)]
    minor_allow_depname: Vec<String>,

    #[arg(long = "add-automerge-minor-allow-pattern", value_name = "PATTERN", hide = true)]
    minor_allow_pattern: Vec<String>,
}

/// The dependencies that no longer are such.
#[derive(clap::Args)]
pub(super) struct RemovedAutomergeFlags {
    #[arg(
        id = "removed_patch_block_depname",
        long = "remove-automerge-patch-block-depname",
        value_name = "NAME",
        hide = true
    )]
    patch_block_depname: Vec<String>,

    #[arg(
        id = "removed_patch_block_pattern",
        long = "remove-automerge-patch-block-pattern",
        value_name = "PATTERN",
        hide = true
    )]
    patch_block_pattern: Vec<String>,

    #[arg(
        id = "removed_patch_v0_allow_depname",
        long = "remove-automerge-patch-v0-allow-depname",
        value_name = "NAME",
        hide = true
    )]
    patch_v0_allow_depname: Vec<String>,

    #[arg(
        id = "removed_patch_v0_allow_pattern",
        long = "remove-automerge-patch-v0-allow-pattern",
        value_name = "PATTERN",
        hide = true
    )]
    patch_v0_allow_pattern: Vec<String>,

    #[arg(
        id = "removed_minor_allow_depname",
        long = "remove-automerge-minor-allow-depname",
        value_name = "NAME",
        hide = true
    )]
    minor_allow_depname: Vec<String>,

    #[arg(
        id = "removed_minor_allow_pattern",
        long = "remove-automerge-minor-allow-pattern",
        value_name = "PATTERN",
        hide = true
    )]
    minor_allow_pattern: Vec<String>,
}

/// A variable of the template, the start of the names of environment variables, names, and patterns.
type PatternSource<'a> = (&'static str, &'static str, &'a [String], &'a [String]);

/// Returns the patterns of each variable of the template. A name becomes a pattern that matches only the name.
fn all_patterns(
    sources: [PatternSource<'_>; 3],
    prefix: &str,
    variables: &CommandVariables<'_>,
) -> [(&'static str, Vec<String>); 3] {
    sources.map(|(name, variable, names, patterns)| {
        let names = variables.list(names, &format!("{prefix}_AUTOMERGE_{variable}_DEPNAME"));
        let patterns = variables.list(patterns, &format!("{prefix}_AUTOMERGE_{variable}_PATTERN"));
        (name, names.iter().map(|name| format!("^{name}$")).chain(patterns).collect())
    })
}

impl AutomergeFlags {
    /// Returns the patterns of each variable of the template.
    pub(super) fn patterns(&self, variables: &CommandVariables<'_>) -> [(&'static str, Vec<String>); 3] {
        let sources = [
            (BLOCKED, "PATCH_BLOCK", &*self.patch_block_depname, &*self.patch_block_pattern),
            (ALLOWED_V0, "PATCH_V0_ALLOW", &*self.patch_v0_allow_depname, &*self.patch_v0_allow_pattern),
            (ALLOWED_MINOR, "MINOR_ALLOW", &*self.minor_allow_depname, &*self.minor_allow_pattern),
        ];
        all_patterns(sources, "ADD", variables)
    }
}

impl RemovedAutomergeFlags {
    /// Returns the patterns of each variable of the template.
    pub(super) fn patterns(&self, variables: &CommandVariables<'_>) -> [(&'static str, Vec<String>); 3] {
        let sources = [
            (BLOCKED, "PATCH_BLOCK", &*self.patch_block_depname, &*self.patch_block_pattern),
            (ALLOWED_V0, "PATCH_V0_ALLOW", &*self.patch_v0_allow_depname, &*self.patch_v0_allow_pattern),
            (ALLOWED_MINOR, "MINOR_ALLOW", &*self.minor_allow_depname, &*self.minor_allow_pattern),
        ];
        all_patterns(sources, "REMOVE", variables)
    }
}
