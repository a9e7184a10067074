use clap::{CommandFactory as _, Parser};

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
        fn check(command: &clap::Command) {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in examples.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command_for_program(Program::Clusterctl));
    }
}
