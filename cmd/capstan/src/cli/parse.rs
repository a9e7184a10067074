use std::ffi::OsString;

use clap::{ArgMatches, Command, FromArgMatches as _};

use super::{
    dialect::{SURPLUS, adapt},
    hoist::verbs_first,
    tree::{Root, named},
    usage_error,
};
use crate::{Failure, cli::Globals, program::Program, verbs::Verb};

/// What was asked for.
pub(crate) enum Invocation {
    /// A verb, to be run.
    Verb(Box<Verb>),
    /// The help of the command at this path.
    Help(Vec<String>),
    /// A word that is no command of the group at this path. The peer shows the help of the group and succeeds, and
    /// scripts may know that; what was wrong is told beside it.
    UnknownInGroup {
        /// The group.
        path: Vec<String>,
        /// The word.
        word: String,
    },
    /// The version of this binary.
    Version,
}

impl Invocation {
    /// Whether nothing but help is to be shown, by whatever way it was asked for.
    pub(crate) fn asks_for_help(&self) -> bool {
        match self {
            Self::Help(_) | Self::UnknownInGroup { .. } => true,
            Self::Verb(verb) => matches!(**verb, Verb::Help(_)),
            Self::Version => false,
        }
    }
}

/// Reads a command line; the first word is the program's name.
/// # Errors
/// A usage failure, with the help of the verb attached where the number of arguments is wrong.
pub(crate) fn parse(program: Program, argv: &[OsString]) -> Result<(Globals, Invocation), Failure> {
    let tree = named(program);
    // Behind these the peer sees no command at all, and what it sees none of it answers with its help.
    if argv.get(1).is_some_and(|first| first == "-" || first == "--") {
        return Ok((Globals::default(), Invocation::Help(Vec::new())));
    }
    let mut dialect = adapt(tree.clone());
    let mut matches = dialect
        .try_get_matches_from_mut(verbs_first(&tree, argv))
        .map_err(|error| usage_error::explain(&error, &tree))?;
    let globals = Globals::from_arg_matches(&matches).map_err(|error| usage_error::explain(&error, &tree))?;
    let named = Named::of(&tree, &matches);
    if named.matches.get_flag("help") || named.is_group() {
        let word = named.surplus().filter(|_| named.is_group());
        let invocation = match word.map(str::to_owned) {
            Some(word) => Invocation::UnknownInGroup { path: named.path, word },
            None => Invocation::Help(named.path),
        };
        return Ok((globals, invocation));
    }
    named.check_arguments()?;
    if matches.get_flag("version") && matches.subcommand().is_none() {
        return Ok((globals, Invocation::Version));
    }
    if let Some((flag, word)) = before_plugin(&tree, &matches, argv) {
        return Err(usage_error::flag_before_plugin(program, flag, word));
    }
    let root =
        Root::from_arg_matches_mut(&mut matches).map_err(|error| usage_error::explain(&error, &tree))?;
    let invocation = match root.verb {
        Some(verb) => Invocation::Verb(Box::new(verb)),
        None => Invocation::Help(Vec::new()),
    };
    Ok((globals, invocation))
}

/// The innermost command that was named, and what was given to it.
struct Named<'a> {
    path: Vec<String>,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl<'a> Named<'a> {
    fn of(tree: &'a Command, matches: &'a ArgMatches) -> Self {
        let mut named = Self { path: Vec::new(), command: tree, matches };
        while let Some((name, matches)) = named.matches.subcommand() {
            // The root passes words it does not know on to plugins.
            let Some(command) = named.command.find_subcommand(name) else { break };
            named.path.push(command.get_name().to_owned());
            named.command = command;
            named.matches = matches;
        }
        named
    }

    /// Whether it does nothing by itself. What follows it is then no subcommand of its own; the peer shows the help
    /// and succeeds.
    fn is_group(&self) -> bool {
        let is_root = self.path.is_empty();
        !is_root && self.command.has_subcommands() && self.command.get_arguments().next().is_none()
    }

    fn check_arguments(&self) -> Result<(), Failure> {
        for positional in self.command.get_positionals().filter(|arg| arg.is_required_set()) {
            if !self.matches.contains_id(positional.get_id().as_str()) {
                return Err(usage_error::missing_argument(positional).with_help_of(self.path.clone()));
            }
        }
        match self.surplus() {
            Some(word) => {
                Err(usage_error::surplus_argument(self.command, word).with_help_of(self.path.clone()))
            }
            None => Ok(()),
        }
    }

    /// The first word it has no place for.
    fn surplus(&self) -> Option<&str> {
        let mut words = self.matches.try_get_many::<String>(SURPLUS).ok().flatten()?;
        words.next().map(String::as_str)
    }
}

/// A flag that comes first, and the word behind it that is no verb and may be a plugin's name.
/// The peer takes no flag between its own name and a plugin's: it could not tell whose flag it is.
fn before_plugin<'a>(
    tree: &Command,
    matches: &'a ArgMatches,
    argv: &'a [OsString],
) -> Option<(&'a OsString, &'a str)> {
    let (word, _) = matches.subcommand()?;
    let is_plugin = tree.find_subcommand(word).is_none();
    let first = argv.get(1).filter(|first| is_plugin && first.to_string_lossy().starts_with('-'))?;
    Some((first, word))
}
