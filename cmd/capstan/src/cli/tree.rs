use std::ffi::OsString;

use clap::{CommandFactory as _, Parser};

use super::lazy;
use crate::{program::Program, settings::Globals, verbs::Verb};

/// Manage the providers and Clusters of Cluster API management clusters.
///
/// A drop-in replacement for clusterctl, with the same commands, flags, files and labels.
#[derive(Parser)]
#[command(
    name = "capstan",
    subcommand_help_heading = "Commands",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    max_term_width = 100
)]
pub(crate) struct Root {
    #[command(flatten)]
    pub(crate) globals: Globals,

    /// Print the version of this binary
    #[arg(long)]
    pub(crate) version: bool,

    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// Returns the documented command tree, for help, completion and the reference pages.
/// Examples contain the program name, which replaces `{bin}`.
pub fn command() -> clap::Command {
    command_for_program(Program::Capstan)
}

/// Returns the command tree of a program.
pub(crate) fn command_for_program(program: Program) -> clap::Command {
    insert_program_name(Root::command(), program.name()).name(program.name()).bin_name(program.name())
}

/// Returns the command tree of a program. Commands that no word names may lack flags and subcommands.
pub(super) fn command_for_words(program: Program, words: &[OsString]) -> clap::Command {
    lazy::only_named(words, || command_for_program(program))
}

fn insert_program_name(command: clap::Command, program: &str) -> clap::Command {
    let command = match command.get_after_help() {
        Some(text) => {
            let text = text.to_string().replace("{bin}", program);
            command.after_help(text)
        }
        None => command,
    };
    command.mut_subcommands(|subcommand| insert_program_name(subcommand, program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_fits_a_narrow_terminal_unwrapped() {
        fn collect(command: &clap::Command, long: &mut Vec<String>) {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            long.extend(examples.lines().filter(|line| line.chars().count() > 80).map(str::to_owned));
            command.get_subcommands().for_each(|subcommand| collect(subcommand, long));
        }
        let mut long = Vec::new();
        collect(&command_for_program(Program::Clusterctl), &mut long);
        assert_eq!(long, [""; 0]);
    }

    /// Returns the words of all commands.
    fn paths(command: &clap::Command, parent: &[String]) -> Vec<Vec<String>> {
        let named = command.get_subcommands().filter(|command| command.get_name() != "help");
        let below = named.flat_map(|command| {
            let path = [parent, &[command.get_name().to_owned()]].concat();
            paths(command, &path)
        });
        [parent.to_vec()].into_iter().chain(below).collect()
    }

    #[test]
    fn help_of_every_command_fits_a_screen() {
        let lines = |path: &[String]| {
            let tree = command_for_program(Program::Clusterctl);
            let page = crate::cli::render_help(tree, Program::Clusterctl, path, Some(80), false);
            page.expect("the command exists").lines().count()
        };
        let all = paths(&command_for_program(Program::Clusterctl), &[]);
        let long: Vec<_> =
            all.iter().map(|path| (path, lines(path))).filter(|(_, lines)| *lines > 50).collect();
        assert_eq!(long, []);
    }

    #[test]
    fn every_command_prints_its_help_without_other_arguments() {
        for path in paths(&command_for_program(Program::Capstan), &[]) {
            let words = ["capstan"].into_iter().chain(path.iter().map(String::as_str)).chain(["--help"]);
            let argv: Vec<OsString> = words.map(OsString::from).collect();
            let parsed = crate::cli::parse(Program::Capstan, &argv);
            assert!(parsed.is_ok_and(|parsed| parsed.invocation.is_help_request()), "{path:?}");
        }
    }
}
