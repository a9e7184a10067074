//! The flags for automatic merges of updates of dependencies. Help has no room for them; the description of the verbs names
//! them.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::verbs::catalog::template_flags::CommandVariables;

/// The variables of templates with lists of patterns, each with the middle of the names of its flags.
const LISTS: [(&str, &str); 3] = [
    ("automerge_patch_regexp_blocklist", "patch-block"),
    ("automerge_patch_v0_regexp_allowlist", "patch-v0-allow"),
    ("automerge_minor_regexp_allowlist", "minor-allow"),
];

/// The dependencies to add to the lists of a template.
pub(super) type AddedDependencies = DependencyFlags<false>;
/// The dependencies to remove from the lists of a template.
pub(super) type RemovedDependencies = DependencyFlags<true>;

/// The values of the flags that select dependencies by name or by regular expression, by the name of the flag.
pub(super) struct DependencyFlags<const IS_REMOVAL: bool>(BTreeMap<String, Vec<String>>);

impl<const IS_REMOVAL: bool> DependencyFlags<IS_REMOVAL> {
    /// Returns the patterns of each variable of the template. A name becomes a pattern that matches only the name.
    pub(super) fn patterns(&self, variables: &CommandVariables<'_>) -> [(&'static str, Vec<String>); 3] {
        LISTS.map(|(variable, list)| {
            let values = |value| {
                let flag = Self::flag(list, value);
                let variable = flag.to_ascii_uppercase().replace('-', "_");
                variables.list(self.0.get(&flag).map_or(&[], Vec::as_slice), &variable)
            };
            let names = values("depname").into_iter().map(|name| format!("^{name}$"));
            (variable, names.chain(values("pattern")).collect())
        })
    }

    fn flag(list: &str, value: &str) -> String {
        format!("{}-automerge-{list}-{value}", if IS_REMOVAL { "remove" } else { "add" })
    }

    /// Returns the names of the flags, each with the name of its value.
    fn flags() -> impl Iterator<Item = (String, &'static str)> {
        let values = [("depname", "NAME"), ("pattern", "PATTERN")];
        LISTS.into_iter().flat_map(move |(_, list)| values.map(|(end, value)| (Self::flag(list, end), value)))
    }
}

impl<const IS_REMOVAL: bool> Args for DependencyFlags<IS_REMOVAL> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::flags().map(|(flag, value)| {
            Arg::new(flag.clone()).long(flag).value_name(value).action(ArgAction::Append).hide(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const IS_REMOVAL: bool> FromArgMatches for DependencyFlags<IS_REMOVAL> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let values = |flag: &str| matches.get_many(flag).into_iter().flatten().cloned().collect();
        Ok(Self(Self::flags().map(|(flag, _)| (flag.clone(), values(&flag))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
