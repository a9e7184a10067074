use std::{
    cell::RefCell,
    ffi::{OsStr, OsString},
    ops::Deref,
};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

thread_local! {
    /// The words of [`only_named`] during its run.
    static WORDS: RefCell<Option<Vec<OsString>>> = const { RefCell::new(None) };
}

/// Builds a command tree in which a lazy command has flags and subcommands only if one of the words is its name.
///
/// All flags of all commands take longer to build and to drop than a short command takes to run. clap hands no context
/// to the types that it derives, so the words are kept beside them.
pub(super) fn only_named(words: &[OsString], build: impl FnOnce() -> Command) -> Command {
    WORDS.set(Some(words.to_vec()));
    let tree = build();
    WORDS.set(None);
    tree
}

fn is_complete(command: &Command) -> bool {
    let name = OsStr::new(command.get_name());
    WORDS.with_borrow(|words| words.as_ref().is_none_or(|words| words.iter().any(|word| word == name)))
}

/// The flags or subcommands of a command, which [`only_named`] leaves out if nothing names the command.
pub(crate) struct Lazy<T>(Box<T>);

impl<T> Lazy<T> {
    pub(crate) fn into_inner(self) -> T {
        *self.0
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Lazy<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|args| Self(Box::new(args)))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(|args| Self(Box::new(args)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Lazy<T> {
    fn augment_args(command: Command) -> Command {
        if is_complete(&command) { T::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Subcommand> Subcommand for Lazy<T> {
    fn augment_subcommands(command: Command) -> Command {
        if is_complete(&command) { T::augment_subcommands(command) } else { command }
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        T::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
